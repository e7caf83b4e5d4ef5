import type { Loaded } from "./loaded.ts";

export interface Turn extends Loaded {
  /** The processor time of the server process per request, in microseconds. */
  readonly serverUs: number;
  /** The processor time of all child processes per request, in microseconds. */
  readonly enginesUs: number;
  /** The resident memory of the server process at the end of the measurement, in MiB. */
  readonly rssMib: number;
}

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

export const figures = {
  perMinute: ({ requests, seconds }: Turn) => (requests / seconds) * 60,
  perSecond: ({ requests, seconds }: Turn) => requests / seconds,
  p50Ms: ({ p50Ms }: Turn) => p50Ms,
  p99Ms: ({ p99Ms }: Turn) => p99Ms,
  serverUs: ({ serverUs }: Turn) => serverUs,
  enginesUs: ({ enginesUs }: Turn) => enginesUs,
  rssMib: ({ rssMib }: Turn) => rssMib,
} satisfies Readonly<Record<string, Figure>>;

type Figure = (turn: Turn) => number;

export function spreadOf(turns: readonly Turn[], figure: Figure): Spread {
  return spread(turns.map(figure));
}

/** Compares round by round, because other load on the machine slows both services in the same round. */
export function ratioOf(turns: readonly Turn[], others: readonly Turn[], figure: Figure): Spread {
  return spread(
    turns.map((turn, round) => {
      const other = others[round];
      return other === undefined ? Number.NaN : figure(turn) / figure(other);
    }),
  );
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const [median = Number.NaN, least = Number.NaN, most = Number.NaN] = [0.5, 0, 1].map((share) =>
    quantile(sorted, share),
  );
  return { median, least, most };
}

/** Interpolates linearly between two values. `sorted` must be ascending and not empty. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}
