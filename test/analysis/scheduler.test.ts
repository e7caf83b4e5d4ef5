import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import {
  createScheduler,
  type QueuePosition,
  type ReadQueuePosition,
  type Scheduler,
  type Slot,
  type Work,
} from "../../src/analysis/scheduler.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { createRandom } from "../support/random.ts";
import { threadMs } from "../support/thread-time.ts";

const never = new AbortController().signal;
const workOf = (flow: string, expectedMs: number): Work => ({
  flow,
  longestMs: 60_000,
  expectMs: () => expectedMs,
  hasRoom: () => false,
});
const work = workOf("somebody", 10);
const schedulerOf = (slots: number, maxWaitMs = 600_000) => createScheduler({ slots, maxWaitMs });
/** Waits until all pending promises have settled. */
const settle = () => new Promise(setImmediate);

async function isSlotFree(scheduler: Scheduler): Promise<boolean> {
  const leaving = new AbortController();
  const entered = scheduler.enter(work, leaving.signal).then(
    (slot) => slot[Symbol.dispose]() ?? true,
    () => false,
  );
  await settle();
  leaving.abort();
  return entered;
}

describe("the scheduler", () => {
  test("the scheduler starts as many searches as it has slots, and one more search when a slot becomes free", async () => {
    const scheduler = schedulerOf(2);
    const first = await scheduler.enter(work, never);
    await scheduler.enter(work, never);
    expect(await isSlotFree(scheduler)).toBe(false);
    const third = scheduler.enter(work, never);
    first[Symbol.dispose]();
    await third;
    expect(await isSlotFree(scheduler)).toBe(false);
  });

  test("the expected wait excludes a cancelled search whose engine is still stopping", async () => {
    const scheduler = schedulerOf(1, 10_000);
    const leaving = new AbortController();
    const left = await scheduler.enter({ ...work, expectMs: () => 60_000 }, leaving.signal);
    await expect(scheduler.enter(work, never)).rejects.toThrow(KibitzError);
    leaving.abort();
    const reported: number[] = [];
    const next = scheduler.enter(work, never, (readPosition) =>
      reported.push(readPosition()?.expectedWaitMs ?? -1),
    );
    left[Symbol.dispose]();
    await next;
    expect(reported).toEqual([0]);
  });

  test("the scheduler measures the time until a search is started", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const scheduler = schedulerOf(1);
    const first = await scheduler.enter(work, never);
    expect(first.queueMs).toBe(0);
    const second = scheduler.enter(work, never);
    vi.advanceTimersByTime(30);
    first[Symbol.dispose]();
    expect((await second).queueMs).toBe(30);
  });

  test("the scheduler rejects a waiting search with its abort reason when the search is cancelled", async () => {
    const scheduler = schedulerOf(1);
    const holder = await scheduler.enter(work, never);
    const leaving = new AbortController();
    const impatient = scheduler.enter(work, leaving.signal);
    const patient = scheduler.enter(work, never);
    const reason = new Error("tired of waiting");
    leaving.abort(reason);
    await expect(impatient).rejects.toBe(reason);
    holder[Symbol.dispose]();
    (await patient)[Symbol.dispose]();
    expect(await isSlotFree(scheduler)).toBe(true);
  });

  test("the scheduler never starts a search that is already cancelled", async () => {
    const scheduler = schedulerOf(1);
    const reason = new Error("never mind");
    await expect(scheduler.enter(work, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(await isSlotFree(scheduler)).toBe(true);
  });

  test("a search that is cancelled after its start occupies its slot until the slot is released", async () => {
    const scheduler = schedulerOf(1);
    const leaving = new AbortController();
    const slot = await scheduler.enter(work, leaving.signal);
    leaving.abort(new Error("gone"));
    await settle();
    expect(await isSlotFree(scheduler)).toBe(false);
    slot[Symbol.dispose]();
    expect(await isSlotFree(scheduler)).toBe(true);
  });

  test("a slot that is released twice starts only one search", async () => {
    const scheduler = schedulerOf(1);
    const slot = await scheduler.enter(work, never);
    slot[Symbol.dispose]();
    slot[Symbol.dispose]();
    await scheduler.enter(work, never);
    expect(await isSlotFree(scheduler)).toBe(false);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "the scheduler never starts more searches than slots, and forgets no waiting search (seed %i)",
    async (seed) => {
      const random = createRandom(seed);
      const slots = 1 + random.below(4);
      const scheduler = schedulerOf(slots);
      const inside = new Set<Slot>();
      const queue: { readonly number: number; readonly leaving: AbortController }[] = [];
      const entered: number[] = [];
      let atOnce: number[] = [];
      let left = 0;
      let asked = 0;
      /**
       * Records which searches the scheduler has started. Searches that were started at the same time are sorted by number,
       * because their order may vary.
       */
      const notice = async () => {
        await settle();
        entered.push(...atOnce.toSorted((a, b) => a - b));
        atOnce = [];
      };

      const come = () => {
        const number = asked++;
        const leaving = new AbortController();
        const one = { number, leaving };
        queue.push(one);
        scheduler.enter(work, leaving.signal).then(
          (slot) => {
            inside.add(slot);
            atOnce.push(number);
            queue.splice(queue.indexOf(one), 1);
          },
          () => {
            left++;
            queue.splice(queue.indexOf(one), 1);
          },
        );
      };
      const finish = () => {
        const [slot] = inside;
        if (slot) {
          inside.delete(slot);
          slot[Symbol.dispose]();
        }
      };
      const leave = () => {
        if (queue.length > 0) {
          random.pick(queue).leaving.abort(new Error("gone"));
        }
      };

      for (let step = 0; step < 300; step++) {
        random.pick([come, come, finish, leave])();
        // Sometimes the next step follows before the scheduler has reacted.
        if (random.below(3) > 0) {
          await notice();
          expect(inside.size).toBe(Math.min(slots, inside.size + queue.length));
        }
      }
      while (inside.size > 0 || queue.length > 0) {
        finish();
        await notice();
      }
      expect(entered.length + left).toBe(asked);
      expect(entered).toEqual(entered.toSorted((a, b) => a - b));
      expect(entered.length).toBeGreaterThan(50);
      expect(left).toBeGreaterThan(5);
    },
  );

  test("the scheduler counts running, waiting, started and refused searches", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const scheduler = schedulerOf(1, 15);
    const holder = await scheduler.enter(work, never);
    const second = scheduler.enter(work, never);
    await expect(scheduler.enter(work, never)).rejects.toMatchObject({ code: "overloaded" });
    expect(scheduler.status()).toMatchObject({ running: 1, waiting: 1, started: 1, refused: 1 });
    holder[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    expect(scheduler.status()).toMatchObject({ running: 0, waiting: 0, started: 2, refused: 1 });
  });
});

/** Queues all searches behind a running search. Returns the names in the order of their start. */
async function orderOf(waiting: readonly (Work & { readonly name: string })[]): Promise<readonly string[]> {
  const scheduler = schedulerOf(1);
  let slot = await scheduler.enter(work, never);
  const entered: string[] = [];
  const entering = waiting.map(async (one) => {
    slot = await scheduler.enter(one, never);
    entered.push(one.name);
  });
  while (entered.length < waiting.length) {
    slot[Symbol.dispose]();
    await settle();
  }
  await Promise.all(entering);
  return entered;
}

const worksOf = (flow: string, expectedMs: number, count: number, name = flow) =>
  Array.from({ length: count }, (_, index) => ({
    ...workOf(flow, expectedMs),
    name: `${name}${index + 1}`,
  }));

describe("waiting work", () => {
  test("many requests from one caller do not delay another caller for long", async () => {
    const order = await orderOf([...worksOf("greedy", 100, 20), ...worksOf("modest", 100, 2)]);
    expect(order.slice(0, 4)).toEqual(["greedy1", "modest1", "greedy2", "modest2"]);
  });

  test("waiting callers get equal time in the slots, and not equal numbers of searches", async () => {
    const order = await orderOf([...worksOf("long", 100, 4), ...worksOf("short", 25, 12)]);
    const shortBefore = (name: string) =>
      order.slice(0, order.indexOf(name)).filter((other) => other.startsWith("short")).length;
    // Four short searches cost as much as one long search.
    expect([shortBefore("long1"), shortBefore("long2")]).toEqual([3, 7]);
  });

  test("a short search overtakes an earlier long search of the same caller or of another caller", async () => {
    const [long, short] = [{ ...workOf("a", 5000), name: "long" }, worksOf("b", 10, 1, "short")];
    expect(await orderOf([long, ...short])).toEqual(["short1", "long"]);
    expect(await orderOf([long, ...worksOf("a", 10, 1, "short")])).toEqual(["short1", "long"]);
  });

  test.each([
    ["callers with a single request", (index: number) => `visitor ${index}`],
    ["one other caller", () => "other"],
    ["the same caller", () => "patient"],
  ])(
    "a long search is eventually started while short searches from %s arrive continuously",
    async (_, flowOf) => {
      const scheduler = schedulerOf(1);
      let slot = await scheduler.enter(work, never);
      let entered = false;
      const long = scheduler.enter(workOf("patient", 60), never).then((mine) => {
        entered = true;
        return mine;
      });
      const coming = (index: number) =>
        scheduler.enter(workOf(flowOf(index), 10), never).then((next) => {
          slot = next;
        });
      // Two short searches always wait. Within one flow, the order depends on the time since arrival.
      const short = [coming(0), coming(1)];
      for (let index = 2; !entered && index < 200; index++) {
        short.push(coming(index));
        slot[Symbol.dispose]();
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      expect(entered).toBe(true);
      (await long)[Symbol.dispose]();
      for (let left = 0; left < short.length; left++) {
        slot[Symbol.dispose]();
        await settle();
      }
      await Promise.all(short);
    },
  );
});

describe("work that would wait too long", () => {
  async function refusalOf(scheduler: Scheduler, asked: Work): Promise<KibitzError> {
    const error = await scheduler.enter(asked, never).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    return error instanceof KibitzError ? error : expect.fail("started");
  }
  /** Returns a scheduler with no free slot. In addition, `waiting` searches are in the queue. */
  async function full(slots: number, maxWaitMs: number, expectedMs: number, waiting: number) {
    const scheduler = schedulerOf(slots, maxWaitMs);
    for (let slot = 0; slot < slots; slot++) {
      await scheduler.enter(workOf("inside", expectedMs), never);
    }
    for (let index = 0; index < waiting; index++) {
      scheduler.enter(workOf("waiting", expectedMs), never).catch(() => {});
    }
    return scheduler;
  }

  test("a search that would wait too long is refused immediately, and the error contains the time to wait and suggests a lower depth", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const scheduler = await full(1, 10_000, 4000, 2);
    const error = await refusalOf(scheduler, workOf("waiting", 4000));
    expect(error).toMatchObject({ code: "overloaded", retryable: true });
    expect(error.message).toMatch(/would wait about 12 s.* a lower depth/);
    expect(error.retryAfterMs).toBe(7000);
    expect(scheduler.status()).toMatchObject({ waiting: 2, refused: 1 });
  });

  test("a short search from another caller is started even if long searches wait", async () => {
    const scheduler = await full(1, 10_000, 4000, 2);
    // Short work of another caller waits only for the running search.
    scheduler.enter(workOf("other", 50), never).catch(() => {});
    expect(scheduler.status()).toMatchObject({ waiting: 3, refused: 0 });
  });

  test("the expected wait is half as long with two slots", async () => {
    const asked = workOf("waiting", 4000);
    await refusalOf(await full(1, 10_000, 4000, 2), asked);
    const scheduler = await full(2, 10_000, 4000, 2);
    scheduler.enter(asked, never).catch(() => {});
    expect(scheduler.status()).toMatchObject({ waiting: 3, refused: 0 });
  });

  test("the scheduler limits the expected wait and not the number of searches, so 1,500 short searches can wait", async () => {
    const scheduler = await full(1, 10_000, 5, 1500);
    expect(scheduler.status()).toMatchObject({ waiting: 1500, refused: 0 });
  });

  test("with a maximum wait of 0, the scheduler refuses every search until a slot is free", async () => {
    const scheduler = schedulerOf(1, 0);
    const holder = await scheduler.enter(work, never);
    await refusalOf(scheduler, work);
    holder[Symbol.dispose]();
    (await scheduler.enter(work, never))[Symbol.dispose]();
  });
});

describe("the queue position", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "the next search to be started has queue position 1, and no position exceeds the queue length (seed %i)",
    async (seed) => {
      const random = createRandom(seed);
      const scheduler = schedulerOf(1);
      let slot = await scheduler.enter(workOf("holder", 5), never);
      const entered: number[] = [];
      const positions: ReadQueuePosition[] = [];
      const entering = Array.from({ length: 40 }, async (_, number) => {
        // With few flows and few costs, many searches have equal virtual times.
        const flow = `flow ${random.below(5)}`;
        const expectedMs = 10 * (1 + random.below(3));
        const work = workOf(flow, expectedMs);
        slot = await scheduler.enter(work, never, (readPosition) => {
          positions[number] = readPosition;
        });
        entered.push(number);
      });
      while (entered.length < entering.length) {
        const reported = positions.map((readPosition) => readPosition()?.place);
        const before = entered.length;
        const places = reported.filter((place) => place !== undefined);
        expect(Math.min(...places)).toBe(1);
        expect(Math.max(...places)).toBeLessThanOrEqual(places.length);
        slot[Symbol.dispose]();
        await settle();
        expect(reported[entered[before] ?? -1]).toBe(1);
      }
      expect(positions.map((readPosition) => readPosition())).toEqual(positions.map(() => undefined));
    },
  );

  test("a queue position contains the expected waiting time", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const scheduler = schedulerOf(2);
    const places: (QueuePosition | undefined)[] = [];
    const enter = (expectedMs: number) =>
      void scheduler.enter(workOf("somebody", expectedMs), never, (readPosition) =>
        places.push(readPosition()),
      );
    for (const expectedMs of [4000, 6000, 1000, 2000]) {
      enter(expectedMs);
    }
    expect(places).toEqual([
      { place: 1, expectedWaitMs: 5000 },
      { place: 2, expectedWaitMs: 5500 },
    ]);
  });
});

describe("a waiter", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test("a waiting search gets its queue position immediately and then every second", async () => {
    vi.useFakeTimers();
    const scheduler = schedulerOf(1);
    const onWaiting = vi.fn();
    const slot = await scheduler.enter(workOf("a", 10), never, onWaiting);
    expect(onWaiting).not.toHaveBeenCalled();
    const entering = scheduler.enter(workOf("a", 10), never, onWaiting);
    expect(onWaiting).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(3500);
    expect(onWaiting).toHaveBeenCalledTimes(4);
    slot[Symbol.dispose]();
    await entering;
    expect(vi.getTimerCount()).toBe(0);
  });

  test("reading the positions of 4,000 waiting searches takes less than 300 ms of processor time", async () => {
    vi.useFakeTimers();
    const scheduler = schedulerOf(1);
    await scheduler.enter(workOf("a", 10), never);
    const reads: ReadQueuePosition[] = [];
    for (let count = 0; count < 4000; count++) {
      void scheduler.enter(workOf(`caller ${count}`, 10), never, (read) => (reads[count] = read));
    }
    // Positions are computed at most once a second.
    vi.advanceTimersByTime(1001);
    const before = threadMs();
    const places = reads.map((read) => read()?.place);
    const usedMs = threadMs() - before;
    expect(places).toEqual(places.map((_, index) => index + 1));
    // Sorting the queue for each search takes more than a second.
    expect(usedMs).toBeLessThan(300);
  });

  test("other work of the thread runs after at most 50 reports of 1,000 waiting searches", async () => {
    vi.useFakeTimers();
    const scheduler = schedulerOf(1);
    await scheduler.enter(workOf("a", 10), never);
    const onWaiting = vi.fn();
    for (let count = 0; count < 1000; count++) {
      void scheduler.enter(workOf("a", 10), never, onWaiting);
    }
    vi.advanceTimersByTime(999);
    onWaiting.mockClear();
    let atOnce = 0;
    while (onWaiting.mock.calls.length < 1000) {
      const before = onWaiting.mock.calls.length;
      vi.advanceTimersToNextTimer();
      atOnce = Math.max(atOnce, onWaiting.mock.calls.length - before);
    }
    expect(atOnce).toBe(50);
    expect(onWaiting).toHaveBeenCalledTimes(1000);
  });
});
