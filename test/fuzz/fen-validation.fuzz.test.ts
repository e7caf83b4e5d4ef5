import { deepEqual, equal, match, ok } from "node:assert/strict";
import { Chess, type Square } from "chess.js";
import { makeSquare } from "chessops/util";
import fc from "fast-check";
import { test } from "vitest";
import { describeMove, describeVariation } from "../../src/chess/moves.ts";
import type { Position, PositionInput, PositionViolation } from "../../src/chess/position.ts";
import { validatePosition } from "../../src/chess/validate-position.ts";
import { threadMs } from "../support/thread-time.ts";
import { corpusOf, knownFens } from "./corpus.ts";
import { fuzz } from "./fuzz.ts";

const pieces = [..."KQRBNPkqrbnp"];
const fenCharacter = fc.constantFrom(...pieces, ..."12345678/ wb-abcdefghACDEFGH09");

const square = fc.oneof(
  { weight: 8, arbitrary: fc.constant("1") },
  { weight: 1, arbitrary: fc.constantFrom("P", "p") },
  { weight: 1, arbitrary: fc.constantFrom(...pieces) },
);
const board = fc.array(square, { minLength: 64, maxLength: 64 });
const kings = fc.tuple(fc.nat(63), fc.nat(63));

/** A random FEN with correct syntax. If both kings are on the board, most of these positions are legal. */
const writtenFen = fc
  .record({
    board,
    kings,
    turn: fc.constantFrom("w", "b"),
    castling: fc.oneof(
      fc.constantFrom("-", "KQkq"),
      fc.string({ unit: fc.constantFrom(..."KQkqABHabh"), maxLength: 5 }),
    ),
    ep: fc.oneof(
      fc.constant("-"),
      fc.tuple(fc.constantFrom(..."abcdefgh"), fc.constantFrom("3", "6")).map((two) => two.join("")),
    ),
    clocks: fc.tuple(fc.nat(10_100), fc.nat(10_100)),
  })
  .map(({ board, kings: [white, black], turn, castling, ep, clocks }) => {
    const stranded = (index: number) => index < 8 || index > 55;
    const squares = board.map((piece, index) =>
      /k/i.test(piece) || (stranded(index) && /p/i.test(piece)) ? "1" : piece,
    );
    squares[black] = "k";
    squares[white] = "K";
    const ranks = Array.from({ length: 8 }, (_, rank) => squares.slice(rank * 8, rank * 8 + 8).join(""));
    const written = ranks.join("/").replace(/1+/g, (run) => String(run.length));
    return [written, turn, castling || "-", ep, ...clocks].join(" ");
  });

const edit = fc.record({
  at: fc.nat(128),
  cut: fc.nat(4),
  put: fc.oneof(
    { weight: 4, arbitrary: fc.string({ unit: fenCharacter, maxLength: 2 }) },
    fc.string({ unit: "binary", maxLength: 3 }),
    fc.constantFrom("\n", "\r", "\t", "\u00a0", " ", "  ", "\0", "\ud800", " moves e2e4", ";"),
  ),
});

/** A FEN from the data of other tests, with a few random changes. */
const editedFen = fc
  .tuple(fc.oneof(fc.constantFrom(...knownFens()), writtenFen), fc.array(edit, { maxLength: 4 }))
  .map(([fen, edits]) =>
    edits.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), fen),
  );

const file = fc.constantFrom(..."abcdefgh");
const rank = fc.constantFrom(..."12345678");
const uci = fc
  .tuple(file, rank, file, rank, fc.constantFrom("", "", "q", "n", "k", "x"))
  .map((parts) => parts.join(""));
const san = fc
  .tuple(
    fc.constantFrom("", "N", "B", "R", "Q", "K", "P"),
    fc.constantFrom("", "a", "1", "e4", "x"),
    file,
    rank,
    fc.constantFrom("", "=Q", "+", "#", "=K"),
  )
  .map((parts) => parts.join(""));
const move = fc.oneof(
  uci,
  san,
  fc.constantFrom(
    "O-O",
    "O-O-O",
    "0-0",
    "e2e4",
    "e7e5",
    "Nf3",
    "Nc6",
    "g1f3",
    "b8c6",
    "0000",
    "--",
    "(none)",
    "__proto__",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
);

const inputs: fc.Arbitrary<PositionInput> = fc.record({
  fen: fc.oneof(
    { weight: 4, arbitrary: editedFen },
    { weight: 3, arbitrary: writtenFen },
    fc.string({ unit: fenCharacter, maxLength: 140 }),
    fc.string({ unit: "binary", maxLength: 300 }),
  ),
  moves: fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(move, { maxLength: 6 })),
  chess960: fc.boolean(),
});

/** The only form of a FEN that may be sent to an engine. */
const normalFen =
  /^[1-8KQRBNPkqrbnp/]{15,71} [wb] (-|[KQkq]{1,4}|[A-H]{0,2}[a-h]{0,2}) (-|[a-h][36]) \d{1,5} \d{1,5}$/;

const counts = { accepted: 0, refused: 0 };

function check(input: PositionInput): void {
  const validation = validatePosition(input);
  if (validation.kind === "violations") {
    counts.refused++;
    checkRefusal(validation.violations, input);
    if (validation.suggested !== undefined) {
      const again = validatePosition({ ...input, ...validation.suggested });
      equal(again.kind, "position", `suggested ${JSON.stringify(validation.suggested)}`);
    }
    return;
  }
  counts.accepted++;
  checkPosition(validation.position, input);
}

function checkRefusal(violations: readonly PositionViolation[], input: PositionInput): void {
  ok(violations.length > 0, "refused without a reason");
  for (const { message, field, index } of violations) {
    match(message, /^[ -~]{10,500}$/);
    equal(field, index === undefined ? "fen" : "moves");
    ok((index ?? 0) < Math.max(1, input.moves.length), "a move that was not sent");
  }
}

function checkPosition(position: Position, input: PositionInput): void {
  const { fen, root, moves, turn, board, legalMoveCount, terminal, chess960 } = position;
  for (const written of [fen, root]) {
    match(written, normalFen);
    ok(written.length <= 128, "too long to be read again");
  }
  equal(fen.split(" ")[1], turn.charAt(0));
  // The history starts after the last capture or pawn move.
  ok(moves.length <= Math.min(input.moves.length, board.halfmoves), "too many moves");
  ok(moves.length === input.moves.length || moves.length === board.halfmoves, "too few moves");
  for (const uci of moves) {
    match(uci, /^[a-h][1-8][a-h][1-8][qrbn]?$/);
  }
  equal(legalMoveCount === 0, terminal?.reason === "checkmate" || terminal?.reason === "stalemate");

  // The normalized FEN must give the same position. The moves must lead from the root to this position.
  const again = validatePosition({ fen, moves: [], chess960 });
  const replayed = validatePosition({ fen: root, moves, chess960 });
  deepEqual([again.kind, replayed.kind], ["position", "position"]);
  for (const same of [again, replayed]) {
    if (same.kind === "position") {
      equal(same.position.fen, fen);
      equal(same.position.legalMoveCount, legalMoveCount);
      equal(same.position.chess960, chess960);
    }
  }
  ok(describeVariation(position, input.moves, 0).moves.length <= input.moves.length);
  if (!chess960) {
    checkWithChessJs(position);
  }
}

/** Compares the position with chess.js, which shares no code with chessops. */
function checkWithChessJs(position: Position): void {
  const referee = new Chess(position.fen);
  equal(referee.fen(), position.fen);
  equal(position.legalMoveCount, referee.perft(1));
  const from = [...position.board.board[position.turn]].map(makeSquare);
  const [first] = from.flatMap((square) =>
    referee.moves({ square: square as Square, verbose: true }).slice(0, 1),
  );
  if (first) {
    const described = describeMove(position, first.lan);
    // The move counters of a FEN end at 9999.
    const fenAfter = first.after.replace(/\b10000\b/g, "9999");
    deepEqual([described?.san, described?.fenAfter], [first.san, fenAfter]);
  }
}

test("every text is quickly accepted or refused as a FEN", () => {
  const pieces = "k".repeat(100_000);
  const texts = [
    pieces,
    " ".repeat(1_000_000),
    "8/".repeat(60),
    "w ".repeat(64),
    `${"8/".repeat(64)}\u2028`,
    "1".repeat(128),
  ];
  const before = threadMs();
  for (const fen of texts) {
    validatePosition({ fen, moves: Array.from({ length: 600 }, () => pieces), chess960: true });
  }
  const tookMs = threadMs() - before;
  ok(tookMs < 1000, `${tookMs} ms`);
});

test("the validation of a FEN never throws, and an accepted FEN has only one normalized form", () =>
  fuzz({
    name: "fen-validation",
    inputs,
    check,
    corpus: corpusOf<PositionInput>("fen-validation"),
    figures: () => JSON.stringify(counts),
  }));
