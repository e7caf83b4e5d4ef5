import type { Chess } from "chessops/chess";
import { extend, type Game as GameTree, Node, type PgnNodeData } from "chessops/pgn";
import {
  type LegalMove,
  type MoveDescription,
  meaningOf,
  moveFromText,
  violationOfMove,
} from "../chess/moves.ts";
import { type PlayedGame, playGame, positionsOf } from "../chess/play-game.ts";
import type { Position, PositionInput, Warning } from "../chess/position.ts";
import { errorFromPositionViolations } from "../chess/position-error.ts";
import { standardStart } from "../chess/read-fen.ts";
import {
  removedRights,
  validatePositionInSlices,
  validateStartInSlices,
} from "../chess/validate-position.ts";
import { errorFromViolations, type KibitzError } from "../errors/errors.ts";
import { echo } from "../text/echo.ts";
import { howToSendMany, pgnCorrected, pgnError } from "./pgn-error.ts";
import { type PgnGame, textBefore, variantOf, warningsMax, withForfeit } from "./read-pgn.ts";
import type { Result } from "./read-word.ts";

/** A game whose moves are all legal. A long game needs much less memory without its positions. */
export interface LegalGame {
  /** The tags in the order of the PGN. Empty if the client sent a list of moves instead of a PGN. */
  readonly tags: ReadonlyMap<string, string>;
  readonly start: Position;
  readonly moves: readonly MoveDescription[];
  /** The time on the mover's clock after each move, in milliseconds. */
  readonly clocksMs: readonly (number | undefined)[];
  readonly tree: GameTree<PgnNodeData>;
  /** The result in the PGN. If the PGN has no result, the result by the rules of chess. */
  readonly result: Result;
  readonly warnings: readonly Warning[];
}

export interface Game extends LegalGame {
  /** The start position, then the position after each move. */
  readonly positions: readonly Position[];
}

type MovesOfGame = Pick<PositionInput, "fen" | "moves"> & Partial<Pick<PositionInput, "chess960">>;

/** Plays moves in UCI or SAN. Throws a KibitzError for the field `fen` or `moves`. */
export function* playMoves({ fen, moves, chess960: given }: MovesOfGame): Generator<void, PlayedGame> {
  const validation = yield* validateStartInSlices({ fen, moves, chess960: given });
  if (validation.kind === "violations") {
    // Validate again with the moves, so that the suggestion contains the moves.
    const whole = yield* validatePositionInSlices({ fen, moves, chess960: given });
    throw errorFromPositionViolations(whole.kind === "violations" ? whole : validation);
  }
  const played = yield* playGame(validation.position, moves);
  if (played.refused !== undefined) {
    const index = played.moves.length;
    const text = moves[index] ?? "";
    const why = `${played.refused}${removedRights(validation.position, text)}`;
    const { code, message } = violationOfMove(text, index, why, played.last.fen);
    const place = { ply: index + 1, token: echo(text) };
    const { chess960 } = validation.position;
    const whole = yield* validatePositionInSlices({ fen, moves, chess960 });
    const spelled = whole.kind === "violations" ? whole.suggested : undefined;
    const instead = spelled ?? (index > 0 ? { moves: moves.slice(0, index) } : undefined);
    throw errorFromViolations([
      { pointer: `/moves/${index}`, code, message, place, ...(instead && { instead: { ...instead } }) },
    ]);
  }
  return played;
}

/** Plays the moves of a PGN. Throws a KibitzError for an invalid start position, a wrong move number or an illegal move. */
export function* playPgn(pgn: PgnGame): Generator<void, PlayedPgn> {
  const { start, warnings } = yield* startOf(pgn);
  const wrong = wrongNumberIn(pgn, start);
  const texts = pgn.moves.map(({ san, isAfterN }) => (isAfterN ? `N ${san}` : san));
  const played = yield* playGame(start, texts.slice(0, wrong?.index), undefined, moveOfPgn);
  const { moves, refused } = played;
  const { fen } = played.last;
  const next = pgn.moves[moves.length];
  const isForfeit = refused !== undefined && pgn.mayForfeit && moves.length === pgn.moves.length - 1;
  if (refused !== undefined && next !== undefined && !isForfeit) {
    const isKnight = next.isAfterN && moveFromText(played.last.board, `N${next.san}`);
    const why = isKnight
      ? `after 'N' is a move of a pawn behind the sign of a novelty, or N${next.san}: write N${next.san}, or $146 for the sign`
      : `${refused}${removedRights(start, next.san)}`;
    throw refusedMove(pgn, moves.length, why, fen);
  }
  if (wrong !== undefined) {
    throw refusedMove(pgn, wrong.index, wrong.why, wrong.isTurn ? fen : undefined);
  }
  const read = isForfeit ? withForfeit(pgn) : pgn;
  const bishops = [...pgn.moves.entries()].filter(
    ([at, { san, text }]) => san.startsWith("b") && (text.startsWith("B") || moves[at]?.san.startsWith("B")),
  );
  const [begin] = pgn.moves;
  const counted =
    begin !== undefined && startsAtZero(pgn) && !pgn.tags.has("FEN")
      ? [pgnCorrected(pgn.source, { message: "The move numbers begin with 0", offset: begin.begins, ply: 1 })]
      : [];
  const left = Math.max(0, warningsMax - read.warnings.length - counted.length);
  const corrected = bishops.slice(0, left).map(([at, { text, offset }]) => {
    const message = `${echo(text, "'")} was read as ${moves[at]?.san}`;
    return pgnCorrected(pgn.source, { message, offset, ply: at + 1 });
  });
  return { ...played, pgn: read, warnings: [...warnings, ...counted, ...read.warnings, ...corrected] };
}

interface PlayedPgn extends PlayedGame {
  /** The PGN that the client sent. If the last move `0-0` means a double forfeit, this move is removed. */
  readonly pgn: PgnGame;
  readonly warnings: readonly Warning[];
}

/**
 * Reads `bc4` as a bishop move if no pawn can make this move.
 * The text `N f6` can mean Nf6, or f6 with `N` for novelty. Returns undefined if both moves are legal.
 */
export function moveOfPgn(chess: Chess, written: string): LegalMove | undefined {
  const text = written.replace("N ", "");
  if (text !== written && moveFromText(chess, `N${text}`)) {
    return undefined;
  }
  return moveFromText(chess, text) ?? meaningOf(chess, text)?.move;
}

export function* gameFromPgn(sent: PgnGame): Generator<void, Game> {
  return yield* withPositions(yield* legalGameFromPgn(sent));
}

export function* withPositions(game: LegalGame): Generator<void, Game> {
  return { ...game, positions: yield* positionsOf(game) };
}

export function* legalGameFromMoves(input: MovesOfGame): Generator<void, LegalGame> {
  const { start, moves, last } = yield* playMoves(input);
  const tree = { headers: new Map(), moves: new Node<PgnNodeData>() };
  extend(
    tree.moves,
    moves.map(({ san }) => ({ san })),
  );
  const clocksMs = moves.map(() => undefined);
  const warnings = start.warnings.filter(isCorrection);
  const result = resultOf(last);
  return { tags: new Map(), start, moves, clocksMs, tree, result, warnings };
}

export function* legalGameFromPgn(sent: PgnGame): Generator<void, LegalGame> {
  const played = yield* playPgn(sent);
  const { start, moves, last, pgn, warnings } = played;
  return {
    tags: new Map([...pgn.tags].map(([name, { value }]) => [name, value])),
    start,
    moves,
    clocksMs: [...pgn.tree.moves.mainlineNodes()].map(({ data }) => clockOf(data.comments)),
    tree: pgn.tree,
    result: pgn.result ?? resultOfTag(pgn.tags.get("Result")?.value) ?? resultOf(last),
    warnings,
  };
}

function resultOf({ terminal }: Position): Result {
  return terminal?.result ?? "*";
}

function resultOfTag(value: string | undefined): Result | undefined {
  return value === "1-0" || value === "0-1" || value === "1/2-1/2" ? value : undefined;
}

/** Returns the error for an illegal move in the position `fen`, or for a wrong move number if `fen` is undefined. */
function refusedMove(pgn: PgnGame, index: number, why: string, fen: string | undefined): KibitzError {
  const move = pgn.moves[index];
  if (move === undefined) {
    throw new RangeError(`the game has no move ${index}`);
  }
  const { text, san, offset } = move;
  const place = { token: text, offset, ply: index + 1 };
  if (fen === undefined) {
    return pgnError(pgn.source, { code: "invalid_pgn", message: `${echo(text, "'")} ${why}`, ...place });
  }
  const reason = san === "--" ? "is a null move, which no game has" : why;
  const message = `${echo(text, "'")} ${reason}, in the position ${fen}`;
  const suggestion = textBefore(pgn, move, index + 1);
  return pgnError(pgn.source, { code: "illegal_move", message, ...place, suggestion, fen });
}

function* startOf(pgn: PgnGame): Generator<void, { start: Position; warnings: readonly Warning[] }> {
  const { source, tags, moves } = pgn;
  const variant = tags.get("Variant");
  const kind = variantOf(variant?.value);
  const fen = tags.get("FEN");
  const texts = moves.map(({ san }) => san);
  const validation = yield* validateStartInSlices({
    fen: fen?.value ?? standardStart,
    moves: texts,
    chess960: kind === "chess960" ? true : undefined,
  });
  if (validation.kind === "violations") {
    const [violation] = validation.violations;
    throw pgnError(source, {
      code: violation?.code ?? "invalid_fen",
      message: `The tag FEN: ${(violation?.message ?? "").replace(/\.$/, "")}`,
      token: fen?.value ?? "",
      offset: fen?.offset ?? 0,
      ply: 1,
    });
  }
  const start = validation.position;
  const message = `The variant ${echo(variant?.value ?? "", "'")} was read as Chess960, because of the FEN`;
  const renamed =
    variant !== undefined && kind === "standard" && start.chess960
      ? [pgnCorrected(source, { message, offset: variant.offset, ply: 1 })]
      : [];
  const corrected = start.warnings
    .filter(
      (warning) => isCorrection(warning) && !(warning.code === "chess960_assumed" && renamed.length > 0),
    )
    .map((warning) => ({ ...warning, field: "pgn" as const }));
  return { start, warnings: [...renamed, ...corrected] };
}

/** False for warnings about the move counters and the missing history of a FEN. For a game, these warnings are useless. */
function isCorrection({ code }: Warning): boolean {
  return code !== "no_history" && code !== "fifty_move_horizon";
}

interface WrongNumber {
  readonly index: number;
  /** The reason for the error. The error message writes this text after the move. */
  readonly why: string;
  /** True if the dots after the move number announce a move of Black, but White is to move. */
  readonly isTurn: boolean;
}

/** Some programs begin to count with 0. */
function startsAtZero({ moves }: Pick<PgnGame, "moves">): boolean {
  return moves[0]?.number?.value === 0;
}

/** Finds the first wrong move number. In a PGN with a FEN, any first number is correct: many programs begin with 1. */
function wrongNumberIn({ source, tags, moves }: PgnGame, { turn }: Position): WrongNumber | undefined {
  const blackFirst = turn === "black" ? 1 : 0;
  let first = tags.has("FEN") || startsAtZero({ moves }) ? undefined : 1;
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
        return { index, why, isTurn: false };
      }
    }
    if (dots > 1 && (index + blackFirst) % 2 === 0) {
      const why = "is written as a move of Black's and it is White's turn";
      return { index, why, isTurn: true };
    }
  }
  return undefined;
}

/** Returns the milliseconds of the last `[%clk]` command. */
export function clockOf(comments: readonly string[] = []): number | undefined {
  const written = comments
    .filter((comment) => comment.includes("[%clk"))
    .flatMap((comment) => [...comment.matchAll(clock)])
    .at(-1);
  if (written === undefined) {
    return undefined;
  }
  const [, hours = "0", minutes = "0", seconds = "0"] = written;
  return Math.round((Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds.replace(",", "."))) * 1000);
}

/** If a `[%clk]` command has only two numbers, they are minutes and seconds. */
const clock = /\[%clk\s{1,8}(?:(\d{1,5}):)?(\d{1,3}):(\d{1,2}(?:[.,]\d{0,9})?)\s{0,8}\]/g;
