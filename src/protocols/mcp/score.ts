/** A score in plain JSON, from White's point of view. */
export interface PlainScore {
  readonly cp: number | null;
  readonly mate: number | null;
  readonly bound: string;
  readonly win_percent: number;
}

/** A score that names its side: "White +1.35", "Black mates in 3", "equal 0.00". */
export function scoreText({ cp, mate, bound, win_percent: winPercent }: PlainScore): string {
  if (mate === 0) {
    return winPercent > 50 ? "White has mated" : "Black has mated";
  }
  if (mate !== null) {
    return `${mate > 0 ? "White" : "Black"} mates in ${Math.abs(mate)}`;
  }
  const pawns = ((cp ?? 0) / 100).toFixed(2);
  if (Number(pawns) === 0) {
    return "equal 0.00";
  }
  const isWhite = Number(pawns) > 0;
  // Bounds are from White's point of view: a lower bound is an upper one for Black.
  const limit = bound === "exact" ? "" : (bound === "lower") === isWhite ? "at least " : "at most ";
  return `${isWhite ? "White" : "Black"} ${limit}+${pawns.replace("-", "")}`;
}

/** The value of a score for a side: greater is better. A mate is better than any number of pawns, and a sooner mate is better. */
export function valueFor(side: "white" | "black", { cp, mate, win_percent: winPercent }: PlainScore): number {
  const white =
    mate === 0
      ? (winPercent - 50) * mateValue
      : mate === null
        ? (cp ?? 0)
        : Math.sign(mate) * (mateValue - Math.abs(mate));
  return side === "white" ? white : 0 - white;
}

/** More centipawns than any engine reports. */
const mateValue = 1_000_000;

/** True if a value of {@link valueFor} stands for a mate. */
export function isMate(value: number): boolean {
  return Math.abs(value) > mateValue / 2;
}
