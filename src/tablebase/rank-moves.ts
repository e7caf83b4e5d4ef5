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
  /** The evaluation of the position after the move, for the side to move there. */
  readonly evaluation: Evaluation;
  readonly zeroing: boolean;
  /** True if the position after the move has occurred twice before, or if the side that loses can then reach such a position. */
  readonly repetition: boolean;
}

/** The positions of the game since the last capture or pawn move. */
export interface Occurrences {
  /** Returns how often a position has occurred. */
  occurrencesOf(chess: Chess): number;
  /** True if a position has occurred twice. */
  readonly hasRepeated: boolean;
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

/** Evaluates all legal moves. The best move is the first. */
export async function rankMoves(
  chess: Chess,
  occurrences: Occurrences,
  { category }: Pick<Evaluation, "category">,
  tables: Tables,
): Promise<readonly RankedMove[]> {
  const ranked: RankedMove[] = [];
  for (const move of legalMovesOf(chess)) {
    ranked.push(await evaluateMove(chess, move, occurrences, tables));
  }
  const judged =
    category === "win" ? withShortestWinning(ranked) : category === "loss" ? withAllLosing(ranked) : ranked;
  return judged.toSorted(compare);
}

export async function evaluateMove(
  chess: Chess,
  move: LegalMove,
  occurrences: Occurrences,
  tables: Tables,
): Promise<RankedMove> {
  const after = chess.clone();
  const san = makeSanAndPlay(after, move);
  const evaluation = await evaluate(after, tables);
  const repetition =
    occurrences.occurrencesOf(after) >= 2 ||
    (evaluation.result === -2 && (await canRepeat(after, occurrences, tables)));
  return { move, san, evaluation, zeroing: isZeroing(chess, move), repetition };
}

/** True if the side to move can reach a position that has occurred twice, and then claim a draw. */
async function canRepeat(
  chess: Chess,
  { occurrencesOf, hasRepeated }: Occurrences,
  tables: Tables,
): Promise<boolean> {
  for (const move of hasRepeated ? legalMovesOf(chess) : []) {
    await tables.turn();
    if (!isZeroing(chess, move) && occurrencesOf(afterMove(chess, move)) >= 2) {
      return true;
    }
  }
  return false;
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

/** No move saves a lost position, also if the distance after the move reaches the end of the clock exactly. */
function withAllLosing(ranked: readonly RankedMove[]): readonly RankedMove[] {
  return ranked.map((one) =>
    one.evaluation.result === 2 ? { ...one, evaluation: { ...one.evaluation, category: "win" } } : one,
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

/**
 * True if `other` wins, but `one` is a shorter way. After a repetition, only the shortest way is sure to meet no position for the
 * third time: each of its positions is nearer to the next capture or pawn move.
 */
export function isShorterWin(one: RankedMove, other: RankedMove): boolean {
  const bothWin = rankOf(one) === ranks.loss && rankOf(other) === ranks.loss;
  return bothWin && !other.zeroing && compareWins(one, other) < 0;
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
