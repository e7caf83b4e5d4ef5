import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import {
  type Coalescer,
  createCoalescer,
  type SharedWork,
  statesOfSearch,
} from "../../src/analysis/coalesce.ts";
import { createRandom } from "../support/random.ts";

const never = new AbortController().signal;
/** Waits until all pending promises have settled. */
const settle = () => new Promise(setImmediate);

interface Run {
  readonly say: (state: number) => void;
  readonly end: (last: number) => void;
  readonly fail: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Returns a fake search, and a list of its runs. The test finishes each run. */
function createWork() {
  const runs: Run[] = [];
  const work: SharedWork<number, string> = (publish, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    let over = false;
    const end = (how: () => void) => {
      over = true;
      how();
    };
    signal.addEventListener("abort", () => end(() => reject(signal.reason)), { once: true });
    runs.push({
      say: (state) => over || publish(state),
      end: (last) => end(() => resolve(last)),
      fail: (error) => end(() => reject(error)),
      signal,
    });
    return promise;
  };
  return { runs, work };
}

type Ask = (
  coalescer: Coalescer<number, string>,
  key: string | undefined,
  work: SharedWork<number, string>,
  signal?: AbortSignal,
) => { readonly seen: readonly number[]; readonly ended: Promise<unknown> };

const all: Ask = (coalescer, key, work, signal = never) => {
  const seen: number[] = [];
  const ended = (async () => {
    for await (const state of coalescer.all(key, work, "somebody", signal)) {
      seen.push(state);
    }
    return "ended";
  })().catch((error: unknown) => error);
  return { seen, ended };
};

const last: Ask = (coalescer, key, work, signal = never) => {
  const seen: number[] = [];
  const ended = (async () => {
    seen.push(await coalescer.last(key, work, "somebody", signal));
    return "ended";
  })().catch((error: unknown) => error);
  return { seen, ended };
};

describe("concurrent equal searches", () => {
  test("concurrent equal searches run once, and all callers get the same result", async () => {
    const [coalescer, { runs, work }] = [createCoalescer<number, string>(), createWork()];
    const readers = [all, last, all, last].map((ask) => ask(coalescer, "a", work));
    await settle();
    expect(runs).toHaveLength(1);
    for (const state of [1, 2]) {
      runs[0]?.say(state);
      await settle();
    }
    runs[0]?.end(3);
    for (const { ended } of readers) {
      expect(await ended).toBe("ended");
    }
    expect(readers.map(({ seen }) => seen)).toEqual([[1, 2, 3], [3], [1, 2, 3], [3]]);
    expect(coalescer.counters).toEqual({ started: 1, joined: 3 });
  });

  test("the first reader of a shared search also gets analyses that are published during the start", async () => {
    const coalescer = createCoalescer<number, string>();
    const hasty: SharedWork<number, string> = async (publish) => {
      publish(1);
      return 2;
    };
    const reader = all(coalescer, "a", hasty);
    expect(await reader.ended).toBe("ended");
    expect(reader.seen).toEqual([1, 2]);
  });

  test("a reader that joins a shared search gets the newest analysis first", async () => {
    const [coalescer, { runs, work }] = [createCoalescer<number, string>(), createWork()];
    all(coalescer, "a", work);
    await settle();
    for (const state of [1, 2]) {
      runs[0]?.say(state);
      await settle();
    }
    const [late, lateForTheEnd] = [all(coalescer, "a", work), last(coalescer, "a", work)];
    await settle();
    expect(late.seen).toEqual([2]);
    expect(lateForTheEnd.seen).toEqual([]);
    runs[0]?.say(3);
    runs[0]?.end(4);
    await Promise.all([late.ended, lateForTheEnd.ended]);
    expect(late.seen).toEqual([2, 3, 4]);
    expect(lateForTheEnd.seen).toEqual([4]);
  });

  test("a slow reader of a shared search gets only the newest analyses, up to a fixed number", async () => {
    const [coalescer, { runs, work }] = [createCoalescer<number, string>(), createWork()];
    const slow = coalescer.all("a", work, "somebody", never)[Symbol.asyncIterator]();
    const first = slow.next();
    runs[0]?.say(1);
    expect((await first).value).toBe(1);
    for (let state = 2; state <= 99; state++) {
      runs[0]?.say(state);
    }
    runs[0]?.end(100);
    await settle();
    const rest = await Array.fromAsync({ [Symbol.asyncIterator]: () => slow });
    expect(rest).toEqual(Array.from({ length: statesOfSearch }, (_, at) => 101 - statesOfSearch + at));
  });

  test("a shared search is cancelled if the first caller disconnects, and the caller that joined stops reading", async () => {
    const [coalescer, { runs, work }] = [createCoalescer<number, string>(), createWork()];
    const [first, second] = [new AbortController(), new AbortController()];
    const { ended } = last(coalescer, "a", work, first.signal);
    const states = coalescer.all("a", work, "somebody", second.signal)[Symbol.asyncIterator]();
    const read = states.next();
    runs[0]?.say(7);
    expect((await read).value).toBe(7);
    first.abort(new Error("gone"));
    await ended;
    expect(runs[0]?.signal.aborted).toBe(false);
    await states.return?.();
    expect(runs[0]?.signal.aborted).toBe(true);
    expect(getEventListeners(second.signal, "abort")).toEqual([]);
  });

  test.each([
    ["all analyses", all],
    ["the last analysis", last],
  ])("a request for %s does not join a search that has ended, failed or been cancelled", async (_, ask) => {
    const [coalescer, { runs, work }] = [createCoalescer<number, string>(), createWork()];
    const leaving = new AbortController();
    const endings = [
      () => runs.at(-1)?.end(1),
      () => runs.at(-1)?.fail(new Error("broken")),
      () => leaving.abort(new Error("gone")),
    ];
    for (const [index, end] of endings.entries()) {
      ask(coalescer, "a", work, leaving.signal);
      await settle();
      expect(runs).toHaveLength(index + 1);
      end();
      if (index < 2) {
        await settle();
      }
    }
    // The next caller arrives in the same iteration of the event loop.
    ask(coalescer, "a", work);
    await settle();
    expect(runs).toHaveLength(4);
    expect(runs[3]?.signal.aborted).toBe(false);
  });
});

test.each([
  ["all analyses", all],
  ["the last analysis", last],
])("a request for %s that is already cancelled starts no search", async (_, ask) => {
  const [coalescer, { runs, work }] = [createCoalescer<number, string>(), createWork()];
  const reason = new Error("never mind");
  expect(await ask(coalescer, "a", work, AbortSignal.abort(reason)).ended).toBe(reason);
  expect(runs).toHaveLength(0);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "every caller gets the result or its own abort reason, and no search continues without a caller (seed %i)",
  async (seed) => {
    const random = createRandom(seed);
    const [coalescer, { runs, work }] = [createCoalescer<number, string>(), createWork()];
    const keys = [{ key: "a" }, { key: "b" }, { key: "c" }, { key: undefined }];
    interface Reader extends ReturnType<Ask> {
      readonly leaving: AbortController;
      outcome: unknown;
    }
    const readers: Reader[] = [];
    let state = 0;
    const ends = new Set<number>();
    const failures = new Set<unknown>();
    const end = (run: Run) => {
      ends.add(++state);
      run.end(state);
    };

    const actions: readonly (() => void)[] = [
      () => {
        const leaving = new AbortController();
        const ask = random.pick([all, last]);
        const joined = ask(coalescer, random.pick(keys).key, work, leaving.signal);
        const reader: Reader = { leaving, ...joined, outcome: undefined };
        void joined.ended.then((outcome) => (reader.outcome = outcome));
        readers.push(reader);
      },
      () => readers.length > 0 && random.pick(readers).leaving.abort(new Error("gone")),
      () => runs.length > 0 && random.pick(runs).say(++state),
      () => runs.length > 0 && end(random.pick(runs)),
      () => {
        if (runs.length > 0 && random.below(2) === 0) {
          const failure = new Error("broken");
          failures.add(failure);
          random.pick(runs).fail(failure);
        }
      },
    ];
    const join = actions[0] as () => void;
    for (let step = 0; step < 300; step++) {
      random.pick([...actions, join, join])();
      if (random.below(3) > 0) {
        await settle();
      }
    }
    // Half of the remaining readers leave. Then all work ends.
    for (const { leaving } of readers.filter(() => random.below(2) === 0)) {
      leaving.abort(new Error("gone"));
    }
    await settle();
    runs.forEach(end);
    await Promise.all(readers.map(({ ended }) => ended));
    await settle();

    const count = { ended: 0, left: 0, failed: 0 };
    for (const { outcome, leaving, seen } of readers) {
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      if (outcome === "ended") {
        expect(ends).toContain(seen.at(-1));
        count.ended++;
      } else if (outcome === leaving.signal.reason) {
        count.left++;
      } else {
        expect(failures).toContain(outcome);
        count.failed++;
      }
    }
    expect(Math.min(count.ended, count.left, count.failed)).toBeGreaterThan(0);
    const { started, joined } = coalescer.counters;
    expect(started).toBe(runs.length);
    expect(started + joined).toBeLessThanOrEqual(readers.length);
    expect(joined).toBeGreaterThan(5);
  },
);
