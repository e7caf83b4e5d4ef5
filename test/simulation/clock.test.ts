import { expect, test } from "vitest";
import { createClock } from "./clock.ts";
import { createRandom } from "./random.ts";

test("a virtual clock performs events in the order of time, and equal times in the order of creation", async () => {
  const clock = createClock();
  const { time } = clock;
  const order: string[] = [];
  const log = (name: string) => () => order.push(`${name} ${time.now()}`);
  time.after(20, log("later"));
  time.after(10, log("first"));
  time.after(10, log("second"));
  time.after(10, () => {
    time.soon(log("immediate"));
    clock.at(10, log("input"));
  });
  const cancelled = time.after(15, log("cancelled"));
  const refreshed = time.after(12, log("refreshed"));
  time.after(11, () => {
    cancelled.cancel();
    refreshed.refresh();
  });
  const ticks = time.every(8, () => time.now() > 15 && ticks.cancel());
  expect(await clock.run(() => false)).toBe(false);
  expect(order).toEqual(["first 10", "second 10", "input 10", "immediate 10", "later 20", "refreshed 23"]);
});

test("a virtual clock waits for promises before the time goes on", async () => {
  const { time, run } = createClock();
  const times: number[] = [];
  const worker = async () => {
    for (let step = 0; step < 3; step++) {
      await time.sleep(10);
      await time.turn();
      await Promise.resolve();
      times.push(time.now());
    }
  };
  void worker();
  await run(() => false);
  expect(times).toEqual([10, 20, 30]);
});

test("a process of a virtual clock is late after a pause, and does nothing after it was killed", async () => {
  const clock = createClock();
  const { time } = clock;
  const order: string[] = [];
  const begin = (name: string) => {
    const process = clock.process(name);
    process.run(() => time.every(10, () => order.push(`${name} ${time.now()}`)));
    return process;
  };
  const [paused, killed] = [begin("paused"), begin("killed")];
  time.after(15, () => {
    paused.pause(17);
    killed.kill();
  });
  await clock.run(() => time.now() > 42);
  expect(order).toEqual(["paused 10", "killed 10", "paused 32", "paused 42"]);
  expect([paused.timers(), killed.timers()]).toEqual([1, 0]);
});

test("a fork of a random stream depends only on the seed and the name", () => {
  const drawn = createRandom(7);
  drawn.next();
  expect(drawn.fork("node 2").next()).toBe(createRandom(7).fork("node 2").next());
  expect(drawn.fork("node 3").next()).not.toBe(createRandom(7).fork("node 2").next());
  expect(createRandom(8).fork("node 2").next()).not.toBe(createRandom(7).fork("node 2").next());
});
