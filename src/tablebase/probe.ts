import { attacks } from "chessops/attacks";
import type { Chess } from "chessops/chess";
import { SquareSet } from "chessops/squareSet";
import { isCapture, type LegalMove, legalMovesOf } from "../chess/moves.ts";
import { DamagedTable } from "./damaged-table.ts";
import { lookUpDistance, lookUpResult, type OpenTable, type Result } from "./table.ts";

export interface Tables {
  /** Returns the table for the pieces of a position. Rejects if there is none. */
  open(chess: Chess, kind: "wdl" | "dtz"): Promise<OpenTable>;
  /** Awaited between moves, so that a long probe can give way to other work. */
  turn(): Promise<void>;
}

export interface Probe {
  /** The result if the last move was a capture or a pawn move. */
  readonly result: Result;
  /**
   * The number of plies to the next capture or pawn move, 0 for a draw. Negative if the side to move loses. Beyond 100 if the
   * fifty-move rule spoils the result. May be too small by 1.
   */
  readonly distance: number;
}

/** @throws TableMiss if the tables do not know the position */
export async function probe(chess: Chess, tables: Tables): Promise<Probe> {
  const { result, isByCapture } = await probeResult(chess, tables);
  return { result, distance: await probeDistance(chess, result, isByCapture, tables) };
}

interface ResultProbe {
  readonly result: Result;
  /** True if the next move is a capture, which the table of distances does not know. */
  readonly isByCapture: boolean;
}

/**
 * A table ignores captures en passant. Where another capture is at least as good as all other moves, the table may contain any
 * worse value. So captures are tried first.
 */
async function probeResult(chess: Chess, tables: Tables): Promise<ResultProbe> {
  let best: Result | undefined;
  let enPassant: Result | undefined;
  for (const move of capturesOf(chess)) {
    const result = await resultOfMove(chess, move, tables);
    if (result === 2) {
      return { result, isByCapture: true };
    }
    if (isEnPassant(chess, move)) {
      enPassant = better(enPassant, result);
    } else {
      best = better(best, result);
    }
  }
  if (enPassant !== undefined && legalMovesOf(chess).every((move) => isEnPassant(chess, move))) {
    return { result: enPassant, isByCapture: true };
  }
  const stored = await lookUp(chess, tables);
  const other = better(best, stored);
  if (enPassant !== undefined && (enPassant > other || (enPassant === other && other > 0))) {
    return { result: enPassant, isByCapture: true };
  }
  return { result: other, isByCapture: best !== undefined && best > 0 && best >= stored };
}

const better = (one: Result | undefined, other: Result) => Math.max(one ?? -2, other) as Result;

async function lookUp(chess: Chess, tables: Tables): Promise<Result> {
  const isKingsAlone = chess.board.occupied.size() === 2;
  return isKingsAlone ? 0 : lookUpResult(await tables.open(chess, "wdl"), chess);
}

/** Returns the result of a move for the side that makes it. */
async function resultOfMove(chess: Chess, move: LegalMove, tables: Tables): Promise<Result> {
  return -(await probeResult(afterMove(chess, move), tables)).result as Result;
}

async function probeDistance(
  chess: Chess,
  result: Result,
  isByCapture: boolean,
  tables: Tables,
): Promise<number> {
  if (result === 0) {
    return 0;
  }
  const sign = Math.sign(result);
  const next = sign * (Math.abs(result) === 2 ? 1 : 101);
  if (isByCapture || (result > 0 && (await hasPawnMove(chess, result, tables)))) {
    return next;
  }
  const stored = await lookUpDistance(await tables.open(chess, "dtz"), chess, result);
  if (stored !== undefined) {
    return next + sign * stored;
  }
  return result > 0 ? shortestWin(chess, tables) : longestLoss(chess, result, tables);
}

/** True if a move of a pawn, which is no capture, leads to the result. */
async function hasPawnMove(chess: Chess, result: Result, tables: Tables): Promise<boolean> {
  const pawns = chess.board.pawn.intersect(chess.board[chess.turn]);
  for (const move of pawns.nonEmpty() ? legalMovesOf(chess, pawns) : []) {
    if (!isCapture(chess, move)) {
      await tables.turn();
      if ((await resultOfMove(chess, move, tables)) === result) {
        return true;
      }
    }
  }
  return false;
}

/** Looks at every move, because the table has only positions with the other side to move. No capture and no pawn move wins. */
async function shortestWin(chess: Chess, tables: Tables): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY;
  for (const move of legalMovesOf(chess)) {
    if (!isZeroing(chess, move)) {
      await tables.turn();
      const after = afterMove(chess, move);
      const { result, isByCapture } = await probeResult(after, tables);
      if (result < 0) {
        const distance = await probeDistance(after, result, isByCapture, tables);
        if (distance === -1 && after.isCheckmate()) {
          return 1;
        }
        shortest = Math.min(shortest, 1 - distance);
      }
    }
  }
  if (shortest === Number.POSITIVE_INFINITY) {
    const { reject } = await tables.open(chess, "dtz");
    throw reject(new DamagedTable("contradicts another table"));
  }
  return shortest;
}

async function longestLoss(chess: Chess, result: Result, tables: Tables): Promise<number> {
  let longest = -1;
  for (const move of legalMovesOf(chess)) {
    await tables.turn();
    longest = Math.min(longest, await distanceOfLosing(chess, move, result, tables));
  }
  return longest;
}

/** A loss of -2 makes each move lose, so the result after a move is known. */
async function distanceOfLosing(
  chess: Chess,
  move: LegalMove,
  result: Result,
  tables: Tables,
): Promise<number> {
  const after = afterMove(chess, move);
  if (isZeroing(chess, move)) {
    // A loss that the fifty-move rule spoils. After some captures and pawn moves, the rule would not save the side to move.
    return result === -2 ? -1 : (await probeResult(after, tables)).result === 2 ? 0 : -101;
  }
  return result === -2
    ? -(await distanceOfWin(after, tables)) - 1
    : -(await probe(after, tables)).distance - 1;
}

async function distanceOfWin(chess: Chess, tables: Tables): Promise<number> {
  for (const move of capturesOf(chess)) {
    if ((await resultOfMove(chess, move, tables)) === 2) {
      return 1;
    }
  }
  return probeDistance(chess, 2, false, tables);
}

/** True for captures and pawn moves, which set the half-move clock to 0. */
export function isZeroing(chess: Chess, move: LegalMove): boolean {
  return chess.board.pawn.has(move.from) || isCapture(chess, move);
}

export function afterMove(chess: Chess, move: LegalMove): Chess {
  const after = chess.clone();
  after.play(move);
  return after;
}

function isEnPassant(chess: Chess, move: LegalMove): boolean {
  return move.to === chess.epSquare && chess.board.pawn.has(move.from);
}

/** Returns the captures, en passant included. Most positions have none, which the attacks show sooner than the legal moves. */
function capturesOf(chess: Chess): readonly LegalMove[] {
  const { board, turn, epSquare } = chess;
  const targets = board[turn === "white" ? "black" : "white"].diff(board.king);
  let origins = epSquare === undefined ? SquareSet.empty() : board.pawn.intersect(board[turn]);
  for (const from of targets.nonEmpty() ? board[turn] : []) {
    origins = isAttacking(chess, from, targets) ? origins.with(from) : origins;
  }
  return origins.nonEmpty() ? legalMovesOf(chess, origins).filter((move) => isCapture(chess, move)) : [];
}

function isAttacking({ board }: Chess, from: number, targets: SquareSet): boolean {
  const piece = board.get(from);
  return piece !== undefined && attacks(piece, from, board.occupied).intersects(targets);
}
