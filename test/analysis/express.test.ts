import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { flowOf } from "../../src/analysis/fair-queue.ts";
import {
  createScheduler,
  type ReadQueuePosition,
  type Scheduler,
  type Slot,
  type Work,
} from "../../src/analysis/scheduler.ts";

const never = new AbortController().signal;
const minuteMs = 60_000;
/** Short work that has waited this number of milliseconds may use the express place. */
const patienceMs = 250;
/** The time limit in the express place, in milliseconds. */
const expressMaxMs = 500;

interface Asked {
  readonly account?: string;
  readonly flow?: string;
  readonly expectedMs?: number;
  readonly longestMs?: number;
  readonly hasRoom?: () => boolean;
}

function workOf({ account = "hog", expectedMs = 10, ...others }: Asked): Work {
  const { flow = flowOf(account), longestMs = minuteMs, hasRoom = () => true } = others;
  return { flow, longestMs, expectMs: () => expectedMs, hasRoom };
}

/** Work in the scheduler. `slot` is undefined while the work waits. */
interface Entered {
  slot: Slot | undefined;
  error: Error | undefined;
  readPosition: ReadQueuePosition;
}

async function enter(scheduler: Scheduler, asked: Asked, signal = never): Promise<Entered> {
  const entered: Entered = { slot: undefined, error: undefined, readPosition: () => undefined };
  scheduler
    .enter(workOf(asked), signal, (readPosition) => {
      entered.readPosition = readPosition;
    })
    .then(
      (slot) => {
        entered.slot = slot;
      },
      (error) => {
        entered.error = error;
      },
    );
  await pass(0);
  return entered;
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Ends the search of the work after this time. */
async function search(entered: Entered, ms: number): Promise<void> {
  entered.slot?.requested();
  entered.slot?.begin();
  await pass(ms);
  entered.slot?.[Symbol.dispose]();
  await pass(0);
}

/** Waits for the slot in which the work runs again. */
async function again(entered: Entered): Promise<void> {
  const { slot } = entered;
  slot?.[Symbol.dispose]();
  entered.slot = undefined;
  slot?.again(never).then((next) => {
    entered.slot = next;
  });
  await pass(0);
}

async function full(slots: number, asked: Asked = {}, maxWaitMs = 10_000) {
  const scheduler = createScheduler({ slots, maxWaitMs });
  const long: Entered[] = [];
  for (let slot = 0; slot < slots; slot++) {
    const entered = await enter(scheduler, { expectedMs: minuteMs, ...asked });
    entered.slot?.requested();
    entered.slot?.begin();
    long.push(entered);
  }
  return { scheduler, long };
}

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

describe("the express place", () => {
  test("short work of another account starts at once beside two slots with searches of a minute", async () => {
    const { scheduler } = await full(2);
    const short = await enter(scheduler, { account: "other" });
    expect(short.slot?.queueMs).toBe(0);
    expect(scheduler.status()).toMatchObject({ slots: 2, running: 3, waiting: 0, refused: 0 });
  });

  test("the express place holds one search at a time", async () => {
    const { scheduler } = await full(1);
    const [first, second] = [
      await enter(scheduler, { account: "first" }),
      await enter(scheduler, { account: "second" }),
    ];
    expect(second.slot).toBeUndefined();
    await search(first, 10);
    expect(second.slot?.queueMs).toBe(10);
  });

  test.each([
    ["long work of another account", { account: "other", expectedMs: 300 }],
    ["short work of an account with a long search in a slot", { account: "hog" }],
    [
      "a short search of a batch of an account with a long search in a slot",
      { flow: flowOf("hog", "batch") },
    ],
  ])("%s does not use the express place", async (_, asked) => {
    const { scheduler, long } = await full(1, {}, 600_000);
    const waiting = await enter(scheduler, asked);
    await pass(5000);
    expect(waiting.slot).toBeUndefined();
    long[0]?.slot?.[Symbol.dispose]();
    await pass(0);
    expect(waiting.slot).toBeDefined();
  });

  test("short work behind a search that takes longer than expected uses the express place after a quarter of a second", async () => {
    const { scheduler } = await full(1, { expectedMs: 100 });
    const short = await enter(scheduler, { account: "other" });
    await pass(patienceMs - 1);
    expect(short.slot).toBeUndefined();
    await pass(1);
    expect(short.slot?.queueMs).toBe(patienceMs);
  });

  test("short work that would wait only briefly does not use the express place", async () => {
    const { scheduler, long } = await full(1, { expectedMs: 200 });
    const short = await enter(scheduler, { account: "other" });
    await pass(200);
    expect(scheduler.status()).toMatchObject({ running: 1, waiting: 1 });
    long[0]?.slot?.[Symbol.dispose]();
    await pass(0);
    expect(short.slot?.queueMs).toBe(200);
  });

  test("the accounts take turns in the express place, whatever number of short searches each account has", async () => {
    const { scheduler } = await full(1);
    const entered: (readonly [string, Entered])[] = [];
    for (const account of ["busy", "busy", "busy", "second", "third"]) {
      entered.push([account, await enter(scheduler, { account })]);
    }
    const order: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const [account, running] = entered.splice(
        entered.findIndex(([, { slot }]) => slot),
        1,
      )[0] as readonly [string, Entered];
      order.push(account);
      await search(running, 10);
    }
    // The first search of "busy" started before the other accounts arrived.
    expect(order).toEqual(["busy", "busy", "second", "third", "busy"]);
  });

  test("work that takes too long in the express place is set back twice, and then runs only in a slot", async () => {
    const { scheduler, long } = await full(1);
    const slow = await enter(scheduler, { account: "slow" });
    // The engine starts slowly.
    await pass(3000);
    for (const maxMs of [expressMaxMs, 2 * expressMaxMs]) {
      slow.slot?.begin();
      await pass(maxMs - 1);
      expect(slow.slot?.setBack.aborted).toBe(false);
      await pass(1);
      expect(slow.slot?.setBack.aborted).toBe(true);
      await again(slow);
    }
    await pass(5000);
    expect(slow.slot).toBeUndefined();
    long[0]?.slot?.[Symbol.dispose]();
    await pass(0);
    expect(slow.slot).toBeDefined();
    await search(slow, minuteMs);
    expect(slow.slot?.setBack.aborted).toBe(false);
  });

  test("five accounts whose short searches take too long delay the short search of another account by at most a second each", async () => {
    const { scheduler } = await full(2);
    const slow: Entered[] = [];
    for (let index = 0; index < 20; index++) {
      slow.push(await enter(scheduler, { account: `slow ${index % 5}` }));
    }
    const short = await enter(scheduler, { account: "other" });
    while (short.slot === undefined) {
      const running = slow.find(({ slot }) => slot) as Entered;
      running.slot?.begin();
      while (!running.slot?.setBack.aborted) {
        await pass(10);
      }
      await again(running);
    }
    expect(short.slot.queueMs).toBeLessThan(5000);
  });

  test("a search in a slot is not set back if memory has room for one more engine", async () => {
    const { scheduler, long } = await full(2);
    for (let index = 0; index < 20; index++) {
      await search(await enter(scheduler, { account: `account ${index}` }), 100);
    }
    expect(long.map(({ slot }) => slot?.setBack.aborted)).toEqual([false, false]);
  });

  test("one account alone uses every slot", async () => {
    const { scheduler } = await full(4);
    expect(scheduler.status()).toMatchObject({ running: 4, waiting: 0 });
  });

  test("short work of other accounts is never refused because of long searches, and its position and wait are those of the express place", async () => {
    const { scheduler } = await full(1, {}, 600_000);
    for (let index = 0; index < 9; index++) {
      await enter(scheduler, { account: `hog ${index}`, expectedMs: minuteMs });
    }
    await enter(scheduler, { account: "first", expectedMs: 200 });
    const second = await enter(scheduler, { account: "second", expectedMs: 100 });
    const third = await enter(scheduler, { account: "third", expectedMs: 100 });
    expect(second.readPosition()).toEqual({ place: 1, expectedWaitMs: 200 });
    expect(third.readPosition()).toEqual({ place: 2, expectedWaitMs: 300 });
    expect(scheduler.status().refused).toBe(0);
  });

  test("a short search that is next in the queue is in first position, although other short searches wait longer for the express place", async () => {
    const { scheduler } = await full(1);
    for (const account of ["first", "second", "third"]) {
      await enter(scheduler, { account, expectedMs: 200 });
    }
    const shortest = await enter(scheduler, { account: "shortest", expectedMs: 10 });
    expect(shortest.readPosition()?.place).toBe(1);
  });

  test("a second short search of an account is not refused while the first search runs", async () => {
    const { scheduler } = await full(1);
    const first = await enter(scheduler, { account: "other" });
    const second = await enter(scheduler, { account: "other" });
    await search(first, 20);
    expect(second.slot?.queueMs).toBe(20);
  });

  test("work that is cancelled while it waits for the express place does not run", async () => {
    const { scheduler } = await full(1);
    const first = await enter(scheduler, { account: "first" });
    const leaving = new AbortController();
    const left = await enter(scheduler, { account: "second" }, leaving.signal);
    leaving.abort(new Error("gone"));
    await search(first, 10);
    expect(left.error?.message).toBe("gone");
    expect(scheduler.status()).toMatchObject({ running: 1, waiting: 0 });
  });
});

describe("short work if memory has no room for another engine", () => {
  const noRoom = { account: "other", hasRoom: () => false };

  test("short work borrows the slot of a long search, and the long search then runs again", async () => {
    const { scheduler, long } = await full(1);
    await pass(2000);
    const short = await enter(scheduler, noRoom);
    expect(long[0]?.slot?.setBack.aborted).toBe(true);
    await again(long[0] as Entered);
    expect(short.slot).toBeDefined();
    expect(scheduler.status()).toMatchObject({ running: 1, waiting: 1 });
    await search(short, 20);
    expect(long[0]?.slot?.setBack.aborted).toBe(false);
    expect(long[0]?.slot?.queueMs).toBe(2020);
  });

  test("a long search lends its slot to another account, and not to the earlier short search of its own account", async () => {
    const { scheduler, long } = await full(1, {}, 600_000);
    const own = await enter(scheduler, { ...noRoom, account: "hog" });
    await pass(1000);
    const short = await enter(scheduler, noRoom);
    await again(long[0] as Entered);
    expect([own, short].map(({ slot }) => slot !== undefined)).toEqual([false, true]);
  });

  test("the turn in a borrowed slot is a turn in the express place", async () => {
    const { scheduler, long } = await full(1);
    let hasRoom = false;
    const enterOf = (account: string) => enter(scheduler, { account, hasRoom: () => hasRoom });
    const [first, second] = [await enterOf("busy"), await enterOf("busy")];
    const third = await enterOf("third");
    await again(long[0] as Entered);
    first.slot?.requested();
    hasRoom = true;
    await pass(patienceMs);
    expect([first, second, third].map(({ slot }) => slot !== undefined)).toEqual([true, false, true]);
  });

  test("only one search is set back for a short search: the one that has run for the shortest time", async () => {
    const scheduler = createScheduler({ slots: 2, maxWaitMs: 10_000 });
    const [early, late] = [
      await enter(scheduler, { expectedMs: minuteMs }),
      await enter(scheduler, { expectedMs: minuteMs }),
    ];
    early.slot?.begin();
    await pass(1000);
    late.slot?.begin();
    await enter(scheduler, noRoom);
    await enter(scheduler, { ...noRoom, account: "third" });
    await pass(1000);
    expect([early, late].map(({ slot }) => slot?.setBack.aborted)).toEqual([false, true]);
  });

  test("a search loses at most as much time as its time limit, so that it ends although short searches always wait", async () => {
    const { scheduler, long } = await full(1, { longestMs: 10_000, expectedMs: 10_000 });
    const [hog] = long as [Entered];
    const begunAt = performance.now();
    let longestRunMs = 0;
    let runsSince = begunAt;
    for (let index = 0; longestRunMs < 10_000; index++) {
      await pass(1000);
      longestRunMs = Math.max(longestRunMs, performance.now() - runsSince);
      const short = await enter(scheduler, { ...noRoom, account: `account ${index}`, expectedMs: 10 });
      if (hog.slot?.setBack.aborted) {
        await again(hog);
        await search(short, 10);
        hog.slot?.begin();
        runsSince = performance.now();
      }
    }
    // The lost time, the last run, and the short searches.
    expect(performance.now() - begunAt).toBeLessThanOrEqual(10_000 + 10_000 + 2000);
  });

  test("a search whose engine is still starting is set back as soon as the engine has begun", async () => {
    const scheduler = createScheduler({ slots: 1, maxWaitMs: 10_000 });
    const starting = await enter(scheduler, { expectedMs: minuteMs });
    const short = await enter(scheduler, noRoom);
    await pass(5000);
    expect(starting.slot?.setBack.aborted).toBe(false);
    starting.slot?.begin();
    await pass(patienceMs);
    await again(starting);
    expect(short.slot?.queueMs).toBe(5000 + patienceMs);
  });

  test("if one of two long searches still waits for its engine, the other search is set back", async () => {
    const scheduler = createScheduler({ slots: 2, maxWaitMs: 10_000 });
    const [running, starting] = [
      await enter(scheduler, { expectedMs: minuteMs }),
      await enter(scheduler, { expectedMs: minuteMs }),
    ];
    running.slot?.begin();
    await pass(1000);
    const short = await enter(scheduler, noRoom);
    expect([running, starting].map(({ slot }) => slot?.setBack.aborted)).toEqual([true, false]);
    await again(running);
    expect(short.slot?.queueMs).toBe(0);
  });

  test("work that borrows a slot is set back after half a second", async () => {
    const { scheduler, long } = await full(1);
    const slow = await enter(scheduler, noRoom);
    await again(long[0] as Entered);
    slow.slot?.begin();
    await pass(expressMaxMs);
    expect(slow.slot?.setBack.aborted).toBe(true);
  });
});

describe("a long queue", () => {
  const waiting = 4000;

  test.each([
    ["one account", () => "one"],
    ["4,000 accounts", (index: number) => `account ${index}`],
  ])(
    "the expected time of each of 4,000 searches of %s is computed at most once a second",
    async (_, accountOf) => {
      const scheduler = createScheduler({ slots: 1, maxWaitMs: Number.POSITIVE_INFINITY });
      let computed = 0;
      const leaving = new AbortController();
      const enterOne = (account: string) => {
        const expectMs = () => {
          computed++;
          return 300;
        };
        const work = { ...workOf({ account }), expectMs };
        const reports: ReadQueuePosition[] = [];
        scheduler.enter(work, leaving.signal, (readPosition) => reports.push(readPosition)).catch(() => {});
        return reports;
      };
      enterOne("holder");
      const reports = Array.from({ length: waiting }, (_, index) => enterOne(accountOf(index)));
      expect(computed).toBeLessThan(3 * waiting);
      computed = 0;
      for (let second = 0; second < 5; second++) {
        await pass(1000);
        const places = reports.map((each) => each.at(-1)?.()?.place);
        expect(places).toEqual(Array.from({ length: waiting }, (_, index) => index + 1));
      }
      expect(computed).toBeLessThanOrEqual(6 * waiting);
      leaving.abort(new Error("gone"));
      await pass(0);
      expect(scheduler.status().waiting).toBe(0);
    },
  );
});
