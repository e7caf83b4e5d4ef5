import { describe, expect, test } from "vitest";
import { createScheduler, type Scheduler, type Slot } from "../../src/analysis/scheduler.ts";
import { createRandom } from "../support/random.ts";

const never = new AbortController().signal;
/** Lets everything that can go on go on. */
const settle = () => new Promise(setImmediate);

/** Whether a place is free at once. */
async function hasRoom(scheduler: Scheduler): Promise<boolean> {
  const leaving = new AbortController();
  const entered = scheduler.enter(leaving.signal).then(
    (slot) => slot[Symbol.dispose]() ?? true,
    () => false,
  );
  await settle();
  leaving.abort();
  return entered;
}

describe("the scheduler", () => {
  test("lets in as many as it has slots, and the next one when one leaves", async () => {
    const scheduler = createScheduler(2);
    const first = await scheduler.enter(never);
    await scheduler.enter(never);
    expect(await hasRoom(scheduler)).toBe(false);
    const third = scheduler.enter(never);
    first[Symbol.dispose]();
    await third;
    expect(await hasRoom(scheduler)).toBe(false);
  });

  test("lets the waiting in in the order in which they came", async () => {
    const scheduler = createScheduler(1);
    let holder = await scheduler.enter(never);
    const entered: number[] = [];
    const waiting = [1, 2, 3, 4].map(async (number) => {
      const slot = await scheduler.enter(never);
      entered.push(number);
      return slot;
    });
    for (const next of waiting) {
      holder[Symbol.dispose]();
      holder = await next;
    }
    expect(entered).toEqual([1, 2, 3, 4]);
  });

  test("tells how long somebody waited", async () => {
    const scheduler = createScheduler(1);
    const first = await scheduler.enter(never);
    expect(first.queueMs).toBe(0);
    const second = scheduler.enter(never);
    await new Promise((resolve) => setTimeout(resolve, 30));
    first[Symbol.dispose]();
    expect((await second).queueMs).toBeGreaterThanOrEqual(29);
  });

  test("forgets who leaves the queue, with the reason that he gives", async () => {
    const scheduler = createScheduler(1);
    const holder = await scheduler.enter(never);
    const leaving = new AbortController();
    const impatient = scheduler.enter(leaving.signal);
    const patient = scheduler.enter(never);
    const reason = new Error("tired of waiting");
    leaving.abort(reason);
    await expect(impatient).rejects.toBe(reason);
    holder[Symbol.dispose]();
    (await patient)[Symbol.dispose]();
    expect(await hasRoom(scheduler)).toBe(true);
  });

  test("does not let in who has left already", async () => {
    const scheduler = createScheduler(1);
    const reason = new Error("never mind");
    await expect(scheduler.enter(AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(await hasRoom(scheduler)).toBe(true);
  });

  test("frees nothing when somebody leaves the queue", async () => {
    const scheduler = createScheduler(1);
    await scheduler.enter(never);
    const leaving = new AbortController();
    const impatient = scheduler.enter(leaving.signal);
    leaving.abort(new Error("gone"));
    await expect(impatient).rejects.toThrow("gone");
    expect(await hasRoom(scheduler)).toBe(false);
  });

  test("takes no place back from who leaves after he was let in", async () => {
    const scheduler = createScheduler(1);
    const leaving = new AbortController();
    const slot = await scheduler.enter(leaving.signal);
    leaving.abort(new Error("gone"));
    await settle();
    expect(await hasRoom(scheduler)).toBe(false);
    slot[Symbol.dispose]();
    expect(await hasRoom(scheduler)).toBe(true);
  });

  test("frees one place for a slot that is given back twice", async () => {
    const scheduler = createScheduler(1);
    const slot = await scheduler.enter(never);
    slot[Symbol.dispose]();
    slot[Symbol.dispose]();
    await scheduler.enter(never);
    expect(await hasRoom(scheduler)).toBe(false);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "never lets in more than it has slots, and forgets nobody, whatever happens (seed %i)",
    async (seed) => {
      const random = createRandom(seed);
      const slots = 1 + random.below(4);
      const scheduler = createScheduler(slots);
      const inside = new Set<Slot>();
      const queue: { readonly number: number; readonly leaving: AbortController }[] = [];
      const entered: number[] = [];
      let atOnce: number[] = [];
      let left = 0;
      let asked = 0;
      /** Those who are let in at once have no order among themselves. */
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
        scheduler.enter(leaving.signal).then(
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
        // Sometimes several things happen before anybody notices.
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
});
