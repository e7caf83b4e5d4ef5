import { describe, expect, test } from "vitest";
import { createCoalescer } from "../../src/analysis/coalesce.ts";
import { createLatest, type Latest } from "../../src/engine/latest.ts";
import { createRandom } from "../support/random.ts";

const never = new AbortController().signal;
/** Lets everything that can go on go on. */
const settle = () => new Promise(setImmediate);

/** Work that says what it is told to say, until it is told to end or called off. */
function createWork() {
  const runs: { readonly says: Latest<number>; readonly signal: AbortSignal }[] = [];
  return {
    runs,
    start(signal: AbortSignal): AsyncIterable<number> {
      const says = createLatest<number>();
      signal.addEventListener("abort", () => says.fail(signal.reason), { once: true });
      runs.push({ says, signal });
      return says;
    },
  };
}

/** Reads to the end, and remembers what it was told. */
function read(states: AsyncIterable<number>) {
  const seen: number[] = [];
  const ended = (async () => {
    for await (const state of states) {
      seen.push(state);
    }
    return "ended";
  })().catch((error: unknown) => error);
  return { seen, ended };
}

describe("equal work under way at the same time", () => {
  test("is done once, and all are told the same", async () => {
    const [coalescer, work] = [createCoalescer<number>(), createWork()];
    const readers = [1, 2, 3].map(() => read(coalescer.join("a", work.start, never)));
    await settle();
    expect(work.runs).toHaveLength(1);
    for (const state of [1, 2]) {
      work.runs[0]?.says.push(state);
      await settle();
    }
    work.runs[0]?.says.end();
    for (const { seen, ended } of readers) {
      expect(await ended).toBe("ended");
      expect(seen).toEqual([1, 2]);
    }
    expect(coalescer.counters).toEqual({ started: 1, joined: 2 });
  });

  test("tells who comes late the newest state first", async () => {
    const [coalescer, work] = [createCoalescer<number>(), createWork()];
    read(coalescer.join("a", work.start, never));
    await settle();
    for (const state of [1, 2]) {
      work.runs[0]?.says.push(state);
      await settle();
    }
    const late = read(coalescer.join("a", work.start, never));
    await settle();
    expect(late.seen).toEqual([2]);
    work.runs[0]?.says.push(3);
    work.runs[0]?.says.end();
    await late.ended;
    expect(late.seen).toEqual([2, 3]);
  });

  test("goes on when the first caller leaves, and is called off when the last one does", async () => {
    const [coalescer, work] = [createCoalescer<number>(), createWork()];
    const [first, second] = [new AbortController(), new AbortController()];
    const readers = [first, second].map(({ signal }) => read(coalescer.join("a", work.start, signal)));
    await settle();
    first.abort(new Error("the first has left"));
    expect(await readers[0]?.ended).toBe(first.signal.reason);
    expect(work.runs[0]?.signal.aborted).toBe(false);
    second.abort(new Error("the last has left"));
    expect(await readers[1]?.ended).toBe(second.signal.reason);
    expect(work.runs[0]?.signal.reason).toBe(second.signal.reason);
  });

  test("is left by a reader that stops reading, and then called off", async () => {
    const [coalescer, work] = [createCoalescer<number>(), createWork()];
    const reading = (async () => {
      for await (const state of coalescer.join("a", work.start, never)) {
        return state;
      }
      return undefined;
    })();
    await settle();
    work.runs[0]?.says.push(7);
    expect(await reading).toBe(7);
    expect(work.runs[0]?.signal.aborted).toBe(true);
  });

  test("is left by a caller that goes while it does not read", async () => {
    const [coalescer, work] = [createCoalescer<number>(), createWork()];
    const leaving = new AbortController();
    const states = coalescer.join("a", work.start, leaving.signal)[Symbol.asyncIterator]();
    const first = states.next();
    await settle();
    work.runs[0]?.says.push(1);
    await first;
    leaving.abort(new Error("gone"));
    expect(work.runs[0]?.signal.aborted).toBe(true);
    await expect(states.next()).rejects.toThrow("gone");
  });

  test("fails for all when it fails", async () => {
    const [coalescer, work] = [createCoalescer<number>(), createWork()];
    const readers = [1, 2, 3].map(() => read(coalescer.join("a", work.start, never)));
    await settle();
    const failure = new Error("broken");
    work.runs[0]?.says.fail(failure);
    for (const { ended } of readers) {
      expect(await ended).toBe(failure);
    }
  });

  test("that has ended, failed or been called off is joined by nobody", async () => {
    const [coalescer, work] = [createCoalescer<number>(), createWork()];
    const leaving = new AbortController();
    const endings = [
      () => work.runs.at(-1)?.says.end(),
      () => work.runs.at(-1)?.says.fail(new Error("broken")),
      () => leaving.abort(new Error("gone")),
    ];
    for (const [index, end] of endings.entries()) {
      read(coalescer.join("a", work.start, leaving.signal));
      await settle();
      expect(work.runs).toHaveLength(index + 1);
      end();
      if (index < 2) {
        await settle();
      }
    }
    // Without a turn of the event loop in between.
    read(coalescer.join("a", work.start, never));
    await settle();
    expect(work.runs).toHaveLength(4);
    expect(work.runs[3]?.signal.aborted).toBe(false);
  });
});

describe("work is not shared", () => {
  test.each([
    ["of different keys", "a", "b"],
    ["without a key", undefined, undefined],
  ])("%s", async (_, one, other) => {
    const [coalescer, work] = [createCoalescer<number>(), createWork()];
    read(coalescer.join(one, work.start, never));
    read(coalescer.join(other, work.start, never));
    await settle();
    expect(work.runs).toHaveLength(2);
    expect(coalescer.counters).toEqual({ started: 2, joined: 0 });
  });
});

test("nobody joins whose signal was aborted before", async () => {
  const [coalescer, work] = [createCoalescer<number>(), createWork()];
  const reason = new Error("never mind");
  expect(await read(coalescer.join("a", work.start, AbortSignal.abort(reason))).ended).toBe(reason);
  expect(work.runs).toHaveLength(0);
});

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  "whoever stays is told the end, whoever leaves his reason, and no work goes on for nobody (seed %i)",
  async (seed) => {
    const random = createRandom(seed);
    const [coalescer, work] = [createCoalescer<number>(), createWork()];
    const keys = [{ key: "a" }, { key: "b" }, { key: "c" }, { key: undefined }];
    interface Reader {
      readonly leaving: AbortController;
      readonly seen: readonly number[];
      readonly ended: Promise<unknown>;
      outcome: unknown;
    }
    const readers: Reader[] = [];
    let state = 0;
    const failures = new Set<unknown>();

    const actions: readonly (() => void)[] = [
      () => {
        const leaving = new AbortController();
        const joined = read(coalescer.join(random.pick(keys).key, work.start, leaving.signal));
        const reader: Reader = { leaving, ...joined, outcome: undefined };
        void joined.ended.then((outcome) => (reader.outcome = outcome));
        readers.push(reader);
      },
      () => readers.length > 0 && random.pick(readers).leaving.abort(new Error("gone")),
      () => work.runs.length > 0 && random.pick(work.runs).says.push(++state),
      () => work.runs.length > 0 && random.pick(work.runs).says.end(),
      () => {
        if (work.runs.length > 0 && random.below(2) === 0) {
          const failure = new Error("broken");
          failures.add(failure);
          random.pick(work.runs).says.fail(failure);
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
    // Half of those who are left leave, and all work is brought to its end.
    for (const { leaving } of readers.filter(() => random.below(2) === 0)) {
      leaving.abort(new Error("gone"));
    }
    await settle();
    for (const { says } of work.runs) {
      says.end();
    }
    await Promise.all(readers.map(({ ended }) => ended));
    await settle();

    const count = { ended: 0, left: 0, failed: 0 };
    for (const { outcome, leaving, seen } of readers) {
      expect(seen).toEqual(seen.toSorted((a, b) => a - b));
      if (outcome === "ended") {
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
    expect(started).toBe(work.runs.length);
    expect(started + joined).toBeLessThanOrEqual(readers.length);
    expect(joined).toBeGreaterThan(5);
  },
);
