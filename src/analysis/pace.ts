import { LRUCache } from "lru-cache";

/** How long searches take here, as a multiple of what a table says: 2 is twice as long. */
export interface Pace {
  readonly value: number;
  /** Takes note of a search of a caller: milliseconds by the table, and what it took. */
  learn(caller: string, typicalMs: number, actualMs: number): void;
}

/** What the searches of one caller took: sums, so that what rounding does to the search of a millisecond weighs little. */
interface Evidence {
  readonly typicalMs: number;
  readonly actualMs: number;
  /** By `performance.now()`. */
  readonly at: number;
}

/** Callers who are remembered, last heard ones first. */
const callersMax = 32;
/** Searches that the table typically gives so many milliseconds are all that one caller can say at a time. */
const enoughMs = 100;
/** So much of what a caller said before counts after they have said enough again: some twenty deep searches count. */
const memory = 0.95;
/** Who is not heard any more counts half after this time: the machine may have other neighbours by now. */
const halfLifeMs = 15 * 60_000;
/** One caller may be answered so much slower or faster than the rest and is believed; beyond that, they count as this. */
const apart = 4;
/** One search is believed to be so much slower or faster than others: a board of queens takes a thousand times as long. */
const outlier = 8;
/** What the table counts beside one caller, or two: more than one, so that nobody alone outvotes it. */
const tableWeight = 1.5;
/** So many callers know better than the table. */
const enoughCallers = 3;

/**
 * The mean of what callers meet, each counted once however much they ask, and none believed to be more than four times
 * off their weighted median. So one caller alone changes it by less than three times, and by less still where there
 * are others: whoever sends positions that take a thousand times as long makes the others' expectations no fable.
 * The table has a voice of its own until three callers were heard.
 */
export function createPace(): Pace {
  const callers = new LRUCache<string, Evidence>({ max: callersMax });
  let value = 1;

  return {
    get value() {
      return value;
    },
    learn(caller, typicalMs, actualMs) {
      const now = performance.now();
      const before = callers.get(caller) ?? { typicalMs: 0, actualMs: 0 };
      // Shallow searches say little, and make little forgotten.
      const kept = memory ** Math.min(1, typicalMs / enoughMs);
      const believedMs = within(actualMs, typicalMs * value, outlier);
      callers.set(caller, {
        typicalMs: before.typicalMs * kept + typicalMs,
        actualMs: before.actualMs * kept + believedMs,
        at: now,
      });
      value = meanOf(votesOf([...callers.values()], now));
    },
  };
}

interface Vote {
  readonly pace: number;
  readonly weight: number;
}

function votesOf(evidence: readonly Evidence[], now: number): readonly Vote[] {
  const votes = evidence.map(({ typicalMs, actualMs, at }) => ({
    pace: actualMs / typicalMs,
    weight: Math.min(1, typicalMs / enoughMs) * 0.5 ** ((now - at) / halfLifeMs),
  }));
  const missing = Math.max(0, enoughCallers - weightOf(votes));
  return [...votes, { pace: 1, weight: tableWeight * Math.min(1, missing) }];
}

function meanOf(votes: readonly Vote[]): number {
  const median = medianOf(votes);
  const sum = votes.reduce((before, { pace, weight }) => before + weight * within(pace, median, apart), 0);
  return sum / weightOf(votes);
}

/** Half of the weight is at or below it. */
function medianOf(votes: readonly Vote[]): number {
  const half = weightOf(votes) / 2;
  let below = 0;
  for (const { pace, weight } of votes.toSorted((one, other) => one.pace - other.pace)) {
    below += weight;
    if (below >= half) {
      return pace;
    }
  }
  return 1;
}

function weightOf(votes: readonly Vote[]): number {
  return votes.reduce((sum, { weight }) => sum + weight, 0);
}

/** At most so many times more or less than another. */
function within(value: number, other: number, times: number): number {
  return Math.min(Math.max(value, other / times), other * times);
}
