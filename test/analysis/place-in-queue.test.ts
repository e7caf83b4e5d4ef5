import { afterEach, describe, expect, test, vi } from "vitest";
import { createScheduler, type PlaceInQueue, type Standing } from "../../src/analysis/scheduler.ts";
import { createRandom } from "../support/random.ts";

const never = new AbortController().signal;
const settle = () => new Promise(setImmediate);

describe("the place in the queue", () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "is the one in which work is let in, if nothing else comes (seed %i)",
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

  test("is told with the time that the work before it should take", async () => {
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

  test("grows when shorter work comes", async () => {
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

  test("is told at once and then every second, until let in", async () => {
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

  test("is told no more when it has left", async () => {
    vi.useFakeTimers();
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 1e9 });
    await scheduler.enter({ flow: "a", expectMs: () => 10 }, never);
    const leaving = new AbortController();
    const entering = scheduler.enter({ flow: "a", expectMs: () => 10 }, leaving.signal, () => {});
    leaving.abort(new Error("gone"));
    await expect(entering).rejects.toThrow("gone");
    expect(vi.getTimerCount()).toBe(0);
  });

  test("is told nothing of work that is refused", async () => {
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 5 });
    await scheduler.enter({ flow: "a", expectMs: () => 1000 }, never);
    const refused = scheduler.enter({ flow: "a", expectMs: () => 10 }, never, () => expect.fail("told"));
    await expect(refused).rejects.toThrow("busy");
  });
});
