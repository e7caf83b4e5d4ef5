import type { Chess } from "chessops/chess";
import { makeSanAndPlay } from "chessops/san";
import { type LegalMove, legalMovesOf } from "../chess/moves.ts";
import { categoryOf, clockMax } from "./outcome.ts";
import { afterMove, isZeroing, type Probe, probe, type Tables } from "./probe.ts";
import type { Category } from "./results.ts";

export interface Evaluation extends Probe {
  readonly category: Category;
  /** Undefined if there are legal moves. */
  readonly end?: "checkmate" | "stalemate";
}

export interface RankedMove {
  readonly move: LegalMove;
  readonly san: string;
  /** Of the position after the move, for the side to move there. */
  readonly evaluation: Evaluation;
  readonly zeroing: boolean;
  /** True if the position after the move has occurred twice before. */
  readonly repetition: boolean;
}

export async function evaluate(chess: Chess, tables: Tables): Promise<Evaluation> {
  await tables.turn();
  if (!chess.hasDests()) {
    return chess.isCheck()
      ? { result: -2, distance: -1, category: "loss", end: "checkmate" }
      : { result: 0, distance: 0, category: "draw", end: "stalemate" };
  }
  const probed = await probe(chess, tables);
  const isLastPly = Math.abs(probed.distance) === 1 && chess.halfmoves === clockMax - 1;
  const isDecidedNow = isLastPly && (await decidesNow(chess, probed, tables));
  return { ...probed, category: categoryOf({ ...probed, clock: chess.halfmoves, isDecidedNow }) };
}

/** True if a move on the board wins without reaching the end of the clock, or if every move loses so. */
async function decidesNow(chess: Chess, { result }: Probe, tables: Tables): Promise<boolean> {
  const moves = legalMovesOf(chess);
  if (result < 0) {
    return moves.every((move) => isZeroing(chess, move));
  }
  for (const move of moves) {
    const after = afterMove(chess, move);
    if (after.isCheckmate() || (isZeroing(chess, move) && (await probe(after, tables)).result === -2)) {
      return true;
    }
  }
  return false;
}

/**
 * Evaluates all legal moves. The best move is the first.
 * @param occurrencesOf returns how often a position has occurred since the last capture or pawn move
 */
export async function rankMoves(
  chess: Chess,
  occurrencesOf: (chess: Chess) => number,
  { category }: Pick<Evaluation, "category">,
  tables: Tables,
): Promise<readonly RankedMove[]> {
  const ranked: RankedMove[] = [];
  for (const move of legalMovesOf(chess)) {
    ranked.push(await evaluateMove(chess, move, occurrencesOf, tables));
  }
  return (category === "win" ? withShortestWinning(ranked) : ranked).toSorted(compare);
}

export async function evaluateMove(
  chess: Chess,
  move: LegalMove,
  occurrencesOf: (chess: Chess) => number,
  tables: Tables,
): Promise<RankedMove> {
  const after = chess.clone();
  const san = makeSanAndPlay(after, move);
  const evaluation = await evaluate(after, tables);
  return { move, san, evaluation, zeroing: isZeroing(chess, move), repetition: occurrencesOf(after) >= 2 };
}

/**
 * The shortest way to the next capture or pawn move keeps a win, also if a distance is rounded. So a position after it is lost, even
 * if its own distance reaches the end of the clock exactly.
 */
function withShortestWinning(ranked: readonly RankedMove[]): readonly RankedMove[] {
  const winning = ranked.filter(({ evaluation, repetition }) => evaluation.result === -2 && !repetition);
  if (winning.some(({ zeroing, evaluation }) => zeroing || evaluation.end === "checkmate")) {
    return ranked;
  }
  const shortest = Math.max(...winning.map(({ evaluation: { distance } }) => distance));
  return ranked.map((one) =>
    winning.includes(one) && one.evaluation.distance === shortest
      ? { ...one, evaluation: { ...one.evaluation, category: "loss" } }
      : one,
  );
}

/** By the category after the move, from the best for the side that moves. */
const ranks: Readonly<Record<Category, number>> = {
  loss: 0,
  blessed_loss: 1,
  draw: 2,
  cursed_win: 3,
  win: 4,
};

function compare(one: RankedMove, other: RankedMove): number {
  const rank = rankOf(one);
  return (
    rank - rankOf(other) ||
    (rank < ranks.draw ? compareWins(one, other) : rank > ranks.draw ? compareLosses(one, other) : 0)
  );
}

/** True if the move gives away nothing of the result of the position. False may also mean that a distance is rounded. */
export function keepsResult(one: RankedMove, { category }: Pick<Evaluation, "category">): boolean {
  return rankOf(one) <= ranks.win - ranks[category];
}

export function hasBetterResult(one: RankedMove, other: RankedMove): boolean {
  return rankOf(one) < rankOf(other);
}

const rankOf = ({ repetition, evaluation }: RankedMove) => ranks[repetition ? "draw" : evaluation.category];
const pliesOf = ({ evaluation }: RankedMove) => Math.abs(evaluation.distance);

/** A checkmate is best, then a capture or pawn move, then the shortest way to one. */
function compareWins(one: RankedMove, other: RankedMove): number {
  return (
    Number(isCheckmate(other)) - Number(isCheckmate(one)) ||
    Number(other.zeroing) - Number(one.zeroing) ||
    pliesOf(one) - pliesOf(other)
  );
}

const isCheckmate = ({ evaluation }: RankedMove) => evaluation.end === "checkmate";

/** The longest way to the next capture or pawn move is best. */
function compareLosses(one: RankedMove, other: RankedMove): number {
  return Number(one.zeroing) - Number(other.zeroing) || pliesOf(other) - pliesOf(one);
}
