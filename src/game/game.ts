import {
  extend,
  type Game as GameTree,
  Node,
  type PgnNodeData,
  parseComment,
  parseVariant,
} from "chessops/pgn";
import { faultOfMove, type MoveDescription } from "../chess/moves.ts";
import { type OnPosition, type PlayedGame, playGame } from "../chess/play-game.ts";
import type { Position, PositionInput, Validation } from "../chess/position.ts";
import { errorFromPositionFaults } from "../chess/position-error.ts";
import { standardStart, validatePosition } from "../chess/validate-position.ts";
import { errorFromFaults, type KibitzError } from "../errors/errors.ts";
import { echo } from "../text/plain-text.ts";
import { howToSendMany, pgnError } from "./pgn-error.ts";
import { type PgnGame, textBefore, type WrittenMove } from "./read-pgn.ts";
import type { Result } from "./read-word.ts";

/** A game that has been played to its end, every move legal. */
export interface Game {
  /** The tags of the PGN, in its order; none for a game that was sent as moves. */
  readonly tags: ReadonlyMap<string, string>;
  /** The positions before the first move and after each: one more than there are moves. */
  readonly positions: readonly Position[];
  /** At least one. */
  readonly moves: readonly MoveDescription[];
  /** The clock of the mover after each move, in milliseconds; undefined if the PGN does not have it. */
  readonly clocksMs: readonly (number | undefined)[];
  /** The moves, comments, variations and NAGs of the PGN. */
  readonly tree: GameTree<PgnNodeData>;
  /** From the PGN; from the rules if the PGN has none. */
  readonly result: Result;
}

type MovesOfGame = Pick<PositionInput, "fen" | "moves">;

/**
 * Plays a position and moves, UCI or SAN, on one board. If castling rights exist in Chess960 only, the game is Chess960.
 *
 * @throws KibitzError for the fields `fen` and `moves`
 */
export function* playMoves(
  { fen, moves }: MovesOfGame,
  onPosition?: OnPosition,
): Generator<void, PlayedGame> {
  const validation = validateStart(fen);
  if (validation.kind === "faults") {
    throw errorFromPositionFaults(validation);
  }
  const played = yield* playGame(validation.position, moves, onPosition);
  if (played.refused !== undefined) {
    const index = played.moves.length;
    const text = moves[index] ?? "";
    const { code, message } = faultOfMove(text, index, played.refused, played.last.fen);
    const place = { ply: index + 1, token: echo(text) };
    throw errorFromFaults([{ pointer: `/moves/${index}`, code, message, place, endsList: true }]);
  }
  return played;
}

/**
 * Plays the game of a PGN on one board.
 *
 * @throws KibitzError for the field `pgn`: `illegal_move`, with the game up to there as a suggestion; `invalid_fen` or
 * `illegal_position` for its tag FEN; `invalid_pgn` for its variant, or for contradictory move numbers
 */
export function* playPgn(pgn: PgnGame, onPosition?: OnPosition): Generator<void, PlayedGame> {
  const start = startOf(pgn);
  const wrong = wrongNumberIn(pgn, start);
  const texts = pgn.moves.map(({ san }) => san);
  const played = yield* playGame(start, texts.slice(0, wrong?.index), onPosition);
  const { moves, refused } = played;
  const { fen } = played.last;
  const next = pgn.moves[moves.length];
  if (refused !== undefined && next !== undefined) {
    throw illegalMove(pgn, next, moves.length, refused, fen);
  }
  if (wrong !== undefined) {
    throw wrong.isTurn
      ? illegalMove(pgn, wrong.move, wrong.index, wrong.why, fen)
      : pgnError(pgn.source, {
          code: "invalid_pgn",
          message: `'${echo(wrong.move.text)}' ${wrong.why}`,
          token: wrong.move.text,
          offset: wrong.move.offset,
          ply: wrong.index + 1,
        });
  }
  return played;
}

/** {@link playMoves} of at least one move, with all positions. */
export function* gameFromMoves(input: MovesOfGame): Generator<void, Game> {
  const after: Position[] = [];
  const { start, moves, last } = yield* playMoves(input, (position) => after.push(position));
  const tree = { headers: new Map(), moves: new Node<PgnNodeData>() };
  extend(
    tree.moves,
    moves.map(({ san }) => ({ san })),
  );
  const clocksMs = moves.map(() => undefined);
  return { tags: new Map(), positions: [start, ...after], moves, clocksMs, tree, result: resultOf(last) };
}

/** {@link playPgn} with all positions. */
export function* gameFromPgn(pgn: PgnGame): Generator<void, Game> {
  const after: Position[] = [];
  const { start, moves, last } = yield* playPgn(pgn, (position) => after.push(position));
  return {
    tags: new Map([...pgn.tags].map(([name, { value }]) => [name, value])),
    positions: [start, ...after],
    moves,
    clocksMs: [...pgn.tree.moves.mainlineNodes()].map(({ data }) => clockOf(data.comments)),
    tree: pgn.tree,
    result: pgn.result ?? resultOfTag(pgn.tags.get("Result")?.value) ?? resultOf(last),
  };
}

function resultOf({ terminal }: Position): Result {
  return terminal?.result ?? "*";
}

function resultOfTag(value: string | undefined): Result | undefined {
  return value === "1-0" || value === "0-1" || value === "1/2-1/2" ? value : undefined;
}

function illegalMove(pgn: PgnGame, move: WrittenMove, index: number, why: string, fen: string): KibitzError {
  const { text, san, offset } = move;
  const what = san === "--" ? "is a null move, which no game has" : why;
  return pgnError(pgn.source, {
    code: "illegal_move",
    message: `'${echo(text)}' ${what}, in the position ${fen}`,
    token: text,
    offset,
    ply: index + 1,
    suggestion: textBefore(pgn, move, index + 1),
    fen,
  });
}

function startOf({ source, tags }: PgnGame): Position {
  const variant = tags.get("Variant");
  if (variant !== undefined && parseVariant(variant.value) !== "chess") {
    throw pgnError(source, {
      code: "invalid_pgn",
      message: `The variant '${echo(variant.value)}' is not supported: the variants are Standard and Chess960`,
      token: variant.value,
      offset: variant.offset,
      ply: 1,
    });
  }
  const fen = tags.get("FEN");
  const validation = validateStart(
    fen?.value ?? standardStart,
    variant && /960|fischer/i.test(variant.value),
  );
  if (validation.kind === "position") {
    return validation.position;
  }
  const [fault] = validation.faults;
  throw pgnError(source, {
    code: fault?.code ?? "invalid_fen",
    message: `The tag FEN: ${(fault?.message ?? "").replace(/\.$/, "")}`,
    token: fen?.value ?? "",
    offset: fen?.offset ?? 0,
    ply: 1,
  });
}

/** @param isChess960 the variant that the game names. If it names none, castling rights decide, because programs without Chess960 leave it out */
function validateStart(fen: string, isChess960?: boolean): Validation {
  const validate = (chess960: boolean) => validatePosition({ fen, moves: [], chess960 });
  const validation = validate(isChess960 ?? false);
  if (isChess960 === undefined && validation.kind === "position" && losesCastling(validation.position)) {
    const shuffled = validate(true);
    return shuffled.kind === "position" && !losesCastling(shuffled.position) ? shuffled : validation;
  }
  return validation;
}

function losesCastling({ warnings }: Position): boolean {
  return warnings.some(({ code }) => code === "castling_rights_removed");
}

interface WrongNumber {
  readonly index: number;
  readonly move: WrittenMove;
  /** The rest of a sentence that begins with the move. */
  readonly why: string;
  /** True if the dots after the number announce a move of the other side. */
  readonly isTurn: boolean;
}

/**
 * The first move whose number shows that moves are missing, or that games have run together. If a game begins with a
 * FEN, any first number is accepted, because many programs count from 1.
 */
function wrongNumberIn({ source, tags, moves }: PgnGame, { turn }: Position): WrongNumber | undefined {
  const blackFirst = turn === "black" ? 1 : 0;
  let first = tags.has("FEN") ? undefined : 1;
  for (const [index, move] of moves.entries()) {
    const { value, dots = 0 } = move.number ?? {};
    const movesBefore = Math.floor((index + blackFirst) / 2);
    if (value !== undefined) {
      first ??= value - movesBefore;
      const expected = first + movesBefore;
      if (value !== expected) {
        const cause =
          value < expected
            ? `if a second game begins here, ${howToSendMany(source)}`
            : "moves are missing before it";
        const why = `has the number ${value} and would be move ${expected}: ${cause}`;
        return { index, move, why, isTurn: false };
      }
    }
    if (dots > 1 && (index + blackFirst) % 2 === 0) {
      const why = "is written as a move of Black's and it is White's turn";
      return { index, move, why, isTurn: true };
    }
  }
  return undefined;
}

function clockOf(comments: readonly string[] = []): number | undefined {
  const written = comments.filter((comment) => comment.includes("[%clk"));
  const seconds = written
    .map((comment) => parseComment(comment).clock)
    .findLast((clock) => clock !== undefined);
  return seconds === undefined ? undefined : Math.round(seconds * 1000);
}
