import type { Color } from "../chess/position.ts";
import { type KnownResult, type ScoreValue, winPercentOfCp } from "../chess/score.ts";

/** The formulas of Lichess in 2026, from its files `eval.scala`, `AccuracyPercent.scala` and `AccuracyCP.scala`. */
export const reviewMethod = "lichess-2026";

/** Lichess assumes this evaluation for the standard start position, in centipawns. */
export const standardStartCp = 15;

/** The largest score in reviews, in centipawns. A forced mate has the same winning chances as this score. */
const ceilingCp = 1000;

/** Returns −1000 to 1000 centipawns from White's point of view. Do not call this function for a position that is checkmate. */
export function centipawnsOf(value: ScoreValue): number {
  const cp = value.kind === "cp" ? value.cp : value.mate > 0 ? ceilingCp : -ceilingCp;
  return Math.max(-ceilingCp, Math.min(ceilingCp, cp));
}

/** Returns the centipawns of a result that is certain. */
export function centipawnsOfResult({ winner }: KnownResult): number {
  return winner === undefined ? 0 : winner === "white" ? ceilingCp : -ceilingCp;
}

/** Returns the accuracy of a move, from 0 to 100. `before` and `after` are the mover's winning chances in percent. */
export function moveAccuracy(before: number, after: number): number {
  if (after >= before) {
    return 100;
  }
  // Lichess adds 1 to the fitted curve, because no analysis is perfect.
  const accuracy =
    103.1668100711649 * Math.exp(-0.04354415386753951 * (before - after)) - 3.166924740191411 + 1;
  return Math.max(0, Math.min(100, accuracy));
}

/**
 * Returns each side's accuracy from 0 to 100: the average of a weighted mean and the harmonic mean of the move accuracies.
 * @param cps the evaluations of the start position and of the position after each move, in centipawns for White
 */
export function gameAccuracy(
  cps: readonly number[],
  firstMover: Color,
): Readonly<Record<Color, number>> | undefined {
  const percents = cps.map(winPercentOfCp);
  const plies = percents.length - 1;
  const size = Math.max(2, Math.min(8, Math.trunc(plies / 10)));
  const bySide: Record<Color, { accuracy: number; weight: number }[]> = { white: [], black: [] };
  for (let ply = 0; ply < plies; ply++) {
    const mover = moverOf(ply, firstMover);
    const before = percents[ply] ?? 0;
    const after = percents[ply + 1] ?? 0;
    const accuracy = mover === "white" ? moveAccuracy(before, after) : moveAccuracy(after, before);
    // The first moves have the same window of evaluations. The window of each later move ends with this move.
    const windowStart = Math.max(0, ply + 2 - size);
    const weight = deviation(percents.slice(windowStart, windowStart + size));
    bySide[mover].push({ accuracy, weight: Math.max(0.5, Math.min(12, weight)) });
  }
  const white = accuracyOfSide(bySide.white);
  const black = accuracyOfSide(bySide.black);
  return white === undefined || black === undefined ? undefined : { white, black };
}

function accuracyOfSide(
  moves: readonly { readonly accuracy: number; readonly weight: number }[],
): number | undefined {
  if (moves.length === 0) {
    return undefined;
  }
  const weighted =
    sum(moves.map(({ accuracy, weight }) => accuracy * weight)) / sum(moves.map(({ weight }) => weight));
  const harmonic = moves.length / sum(moves.map(({ accuracy }) => 1 / Math.max(1, accuracy)));
  return (weighted + harmonic) / 2;
}

function moverOf(index: number, firstMover: Color): Color {
  return (index % 2 === 0) === (firstMover === "white") ? "white" : "black";
}

export function mean(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : sum(numbers) / numbers.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Returns the standard deviation of a population: the divisor is n instead of n − 1. */
function deviation(numbers: readonly number[]): number {
  const middle = mean(numbers) ?? 0;
  return Math.sqrt(sum(numbers.map((number) => (number - middle) ** 2)) / numbers.length);
}
