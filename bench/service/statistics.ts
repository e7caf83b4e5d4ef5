import type { Loaded } from "./loaded.ts";

export interface Turn extends Loaded {
  /** The processor time of the server alone for each request, in microseconds. */
  readonly serverUs: number;
  /** The processor time of all processes that the server has started, for each request, in microseconds. */
  readonly enginesUs: number;
  /** The resident memory of the server alone at the end of the turn, in MiB. */
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

/** Divides figures round by round, because other work of the machine slows both peers in a round. */
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

/** Interpolates between the two nearest values. `sorted` is ascending and not empty. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}
