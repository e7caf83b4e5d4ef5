/** What was measured of one peer in one turn. */
export interface Turn {
  readonly requests: number;
  readonly seconds: number;
  /** Of the time from request to answer, in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time a request, in microseconds: of the server alone, and of all that it has started. */
  readonly serverUs: number | undefined;
  readonly enginesUs: number | undefined;
  /** Resident memory of the server alone at the end, in MiB. */
  readonly rssMib: number | undefined;
}

/** A figure by rounds. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** The figures of a turn that tables show. */
export const figures = {
  perMinute: ({ requests, seconds }: Turn) => (requests / seconds) * 60,
  perSecond: ({ requests, seconds }: Turn) => requests / seconds,
  p50Ms: ({ p50Ms }: Turn) => p50Ms,
  p99Ms: ({ p99Ms }: Turn) => p99Ms,
  serverUs: ({ serverUs }: Turn) => serverUs,
  enginesUs: ({ enginesUs }: Turn) => enginesUs,
  rssMib: ({ rssMib }: Turn) => rssMib,
} satisfies Readonly<Record<string, (turn: Turn) => number | undefined>>;

type Figure = (turn: Turn) => number | undefined;

/** Undefined where there is nothing of the kind to measure. */
export function spreadOf(turns: readonly Turn[], figure: Figure): Spread | undefined {
  return spread(turns.map(figure));
}

/**
 * How many times the others' figure it is, round by round: what the machine does in a round, it does to both.
 *
 * @param others as many turns, of the same rounds.
 */
export function ratioOf(turns: readonly Turn[], others: readonly Turn[], figure: Figure): Spread | undefined {
  return spread(
    turns.map((turn, round) => {
      const [own, other] = [figure(turn), others[round] && figure(others[round])];
      return own === undefined || !other ? undefined : own / other;
    }),
  );
}

function spread(values: readonly (number | undefined)[]): Spread | undefined {
  const known = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  const [least] = known;
  const most = known.at(-1);
  if (least === undefined || most === undefined) {
    return undefined;
  }
  return { median: quantile(known, 0.5), least, most };
}

/** By linear interpolation between the two nearest. @param sorted ascending, not empty. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}
