import { expect, test } from "vitest";
import { createOwnSchedulers } from "../../src/analysis/own-schedulers.ts";
import type { Work } from "../../src/analysis/scheduler.ts";
import { buildOf, launchOf } from "../engine/build-of.ts";

const never = new AbortController().signal;
const work: Work = { flow: "caller", longestMs: 1000, expectMs: () => 500, hasRoom: () => true };
const shared = { slots: 4, running: 3, waiting: 2, started: 10, refused: 1, expectedWaitMs: 70 };

const two = buildOf({ id: "two", launch: launchOf({ instances: 2 }) });
const one = buildOf({ id: "one", launch: launchOf({ instances: 1 }) });
const without = buildOf({ id: "without", launch: launchOf({ instances: undefined }) });
const found = buildOf({ id: "found" });

test("only an engine with a number of instances has slots of its own, one for each instance", () => {
  const schedulers = createOwnSchedulers([two, one, without, found], 1000);
  expect([two, one].map((build) => schedulers.of(build)?.status().slots)).toEqual([2, 1]);
  expect([without, found].map((build) => schedulers.of(build))).toEqual([undefined, undefined]);
});

test("searches wait for the instances of their own engine, and not for those of another engine", async () => {
  const schedulers = createOwnSchedulers([two, one], 60_000);
  using held = await schedulers.of(one)?.enter(work, never);
  const next = schedulers.of(one)?.enter({ ...work, flow: "other" }, never);
  using _ = await schedulers.of(two)?.enter(work, never);
  expect(schedulers.of(one)?.status()).toMatchObject({ running: 1, waiting: 1 });
  expect(schedulers.of(two)?.status()).toMatchObject({ running: 1, waiting: 0 });
  held?.[Symbol.dispose]();
  (await next)?.[Symbol.dispose]();
  expect(schedulers.of(one)?.status()).toMatchObject({ running: 0, waiting: 0, started: 2 });
});

test("a search is refused if its wait for an instance would be too long", async () => {
  const schedulers = createOwnSchedulers([one], 100);
  using _ = await schedulers.of(one)?.enter(work, never);
  await expect(schedulers.of(one)?.enter({ ...work, flow: "other" }, never)).rejects.toMatchObject({
    code: "overloaded",
  });
  expect(schedulers.total(shared)).toMatchObject({ refused: shared.refused + 1, waiting: shared.waiting });
});

test("the total adds the searches of all engines to those of the shared slots, and keeps the wait of the shared slots", async () => {
  expect(createOwnSchedulers([found], 1000).total(shared)).toEqual(shared);
  const schedulers = createOwnSchedulers([two, one], 60_000);
  using _one = await schedulers.of(one)?.enter(work, never);
  using _two = await schedulers.of(two)?.enter(work, never);
  const left = new AbortController();
  const waiting = schedulers.of(one)?.enter({ ...work, flow: "other" }, left.signal);
  expect(schedulers.total(shared)).toEqual({
    slots: shared.slots + 3,
    running: shared.running + 2,
    waiting: shared.waiting + 1,
    started: shared.started + 2,
    refused: shared.refused,
    expectedWaitMs: shared.expectedWaitMs,
  });
  left.abort(new Error("left"));
  await expect(waiting).rejects.toThrow("left");
  expect(schedulers.total(shared).waiting).toBe(shared.waiting);
});
