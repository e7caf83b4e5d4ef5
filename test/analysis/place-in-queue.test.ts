import { afterEach, describe, expect, test, vi } from "vitest";
import { createScheduler, type PlaceInQueue, type Standing } from "../../src/analysis/scheduler.ts";
import { createRandom } from "../support/random.ts";

const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

describe("the place in the queue", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "the queue position is the order in which work is admitted, if nothing else comes (seed %i)",
    async (seed) => {
      const random = createRandom(seed);
      const scheduler = createScheduler({ slots: 1, maxWaitMs: 1e9 });
      let slot = await scheduler.enter({ flow: "holder", expectMs: () => 5 }, never);
      const entered: number[] = [];
      const standings: Standing[] = [];
      const entering = Array.from({ length: 40 }, async (_, number) => {
        // Few flows and few costs, so that many tags are equal.
        const flow = `flow ${random.below(5)}`;
        const expectedMs = 10 * (1 + random.below(3));
        const work = { flow, expectMs: () => expectedMs };
        slot = await scheduler.enter(work, never, (standing) => {
          standings[number] = standing;
        });
        entered.push(number);
      });
      while (entered.length < entering.length) {
        const told = standings.map((standing) => standing()?.place);
        const before = entered.length;
        const waiting = told.filter((place) => place !== undefined);
        expect(waiting.toSorted((a, b) => a - b)).toEqual(waiting.map((_place, index) => index + 1));
        slot[Symbol.dispose]();
        await settle();
        expect(told[entered[before] ?? -1]).toBe(1);
      }
      expect(standings.map((standing) => standing())).toEqual(standings.map(() => undefined));
    },
  );

  test("the queue position is reported with the expected time of the work before it", async () => {
    const scheduler = createScheduler({ slots: 2, maxWaitMs: 1e9 });
    const places: (PlaceInQueue | undefined)[] = [];
    const enter = (expectedMs: number) =>
      void scheduler.enter({ flow: "somebody", expectMs: () => expectedMs }, never, (standing) =>
        places.push(standing()),
      );
    for (const expectedMs of [4000, 6000, 1000, 2000]) {
      enter(expectedMs);
    }
    expect(places).toEqual([
      { place: 1, expectedWaitMs: expect.closeTo(5000, -2) },
      { place: 2, expectedWaitMs: expect.closeTo(5500, -2) },
    ]);
  });

  test("the queue position grows when shorter work comes", async () => {
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 1e9 });
    await scheduler.enter({ flow: "holder", expectMs: () => 100 }, never);
    let long: Standing = () => undefined;
    void scheduler.enter({ flow: "a", expectMs: () => 5000 }, never, (standing) => {
      long = standing;
    });
    expect(long()).toMatchObject({ place: 1 });
    void scheduler.enter({ flow: "b", expectMs: () => 10 }, never);
    expect(long()).toMatchObject({ place: 2 });
  });
});

describe("who waits", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test("a waiter is told its queue position at once and then every second, until it is admitted", async () => {
    vi.useFakeTimers();
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 1e9 });
    const onWaiting = vi.fn();
    const slot = await scheduler.enter({ flow: "a", expectMs: () => 10 }, never, onWaiting);
    expect(onWaiting).not.toHaveBeenCalled();
    const entering = scheduler.enter({ flow: "a", expectMs: () => 10 }, never, onWaiting);
    expect(onWaiting).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(3500);
    expect(onWaiting).toHaveBeenCalledTimes(4);
    slot[Symbol.dispose]();
    await entering;
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a waiter that has left is told no queue position", async () => {
    vi.useFakeTimers();
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 1e9 });
    await scheduler.enter({ flow: "a", expectMs: () => 10 }, never);
    const leaving = new AbortController();
    const entering = scheduler.enter({ flow: "a", expectMs: () => 10 }, leaving.signal, () => {});
    leaving.abort(new Error("gone"));
    await expect(entering).rejects.toThrow("gone");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("refused work is told no queue position", async () => {
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 5 });
    await scheduler.enter({ flow: "a", expectMs: () => 1000 }, never);
    const refused = scheduler.enter({ flow: "a", expectMs: () => 10 }, never, () => expect.fail("told"));
    await expect(refused).rejects.toThrow("busy");
  });
});
