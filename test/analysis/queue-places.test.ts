import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { createQueuePlaces } from "../../src/analysis/queue-places.ts";
import { createScheduler, type ReadQueuePosition } from "../../src/analysis/scheduler.ts";

const costMs = 1000;
const work = { longestMs: 60_000, expectMs: () => costMs, hasRoom: () => false };
const never = new AbortController().signal;

/** A scheduler whose only slot is busy, with `waiting` searches of the flow `batch` in the queue. `next` ends the running search. */
async function busyScheduler(waiting: number, maxWaitMs = 600_000) {
  const scheduler = createScheduler({ slots: 1, maxWaitMs });
  const running = [await scheduler.enter({ ...work, flow: "batch" }, never)];
  for (let count = 0; count < waiting; count++) {
    void scheduler.enter({ ...work, flow: "batch" }, never).then((slot) => running.push(slot));
  }
  const settle = () => new Promise(setImmediate);
  const next = async () => {
    running.shift()?.[Symbol.dispose]();
    await settle();
  };
  return { scheduler, next, settle };
}

test("a search that waits in several flows takes the first slot, and leaves its other places", async () => {
  const { scheduler, next, settle } = await busyScheduler(3);
  const places = createQueuePlaces(scheduler, work);
  const seen: (number | undefined)[] = [];
  const onWaiting = (readPosition: ReadQueuePosition) => void seen.push(readPosition()?.place);
  places.join("batch");
  const entering = places.enter(never, onWaiting);
  expect(seen).toEqual([4]);
  places.join("single");
  expect(seen.at(-1)).toBe(2);
  expect(scheduler.status()).toMatchObject({ running: 1, waiting: 5 });
  await next();
  await next();
  const slot = await entering;
  expect(scheduler.status()).toMatchObject({ running: 1, waiting: 2 });
  slot[Symbol.dispose]();
  await settle();
  expect(scheduler.status()).toMatchObject({ running: 1, waiting: 1 });
});

test("a caller whose flow would not shorten the wait adds no place to the queue", async () => {
  const { scheduler, settle } = await busyScheduler(3);
  const places = createQueuePlaces(scheduler, work);
  places.join("single");
  const leaving = new AbortController();
  const entering = places.enter(leaving.signal, () => {});
  for (const flow of ["batch", "other", "third", "single"]) {
    places.join(flow);
  }
  await settle();
  expect(scheduler.status().waiting).toBe(4);
  leaving.abort(new Error("gone"));
  await expect(entering).rejects.toThrow("gone");
  await settle();
  expect(scheduler.status().waiting).toBe(3);
});

test("a search is refused only if it has no place in any flow", async () => {
  const { scheduler, next } = await busyScheduler(2, 2.5 * costMs);
  const places = createQueuePlaces(scheduler, work);
  places.join("batch");
  await expect(places.enter(never, () => {})).rejects.toMatchObject({ code: "overloaded" });
  places.join("single");
  const entering = places.enter(never, () => {});
  await next();
  await next();
  (await entering)[Symbol.dispose]();
});

test("each search counts once as started, whatever number of places it has and however often it runs", async () => {
  const scheduler = createScheduler({ slots: 1, maxWaitMs: 1.5 * costMs });
  const holder = await scheduler.enter({ ...work, flow: "batch" }, never);
  void scheduler.enter({ ...work, flow: "batch" }, never).then((slot) => slot[Symbol.dispose]());
  const places = createQueuePlaces(scheduler, work);
  places.join("single");
  const entering = places.enter(never, () => {});
  // The flow of the batch would wait too long, but the search already waits in another flow.
  places.join("batch");
  holder[Symbol.dispose]();
  (await entering)[Symbol.dispose]();
  (await places.enter(never, () => {}))[Symbol.dispose]();
  expect(scheduler.status()).toMatchObject({ running: 0, started: 3, refused: 0 });
});

test("a search that gets slots in two flows at the same time gives one slot back", async () => {
  const scheduler = createScheduler({ slots: 2, maxWaitMs: 600_000 });
  const places = createQueuePlaces(scheduler, work);
  places.join("one");
  places.join("other");
  using _ = await places.enter(never, () => {});
  await new Promise(setImmediate);
  expect(scheduler.status()).toMatchObject({ running: 1, waiting: 0 });
});

test("a search that has had a slot is not refused when it waits again, and may leave the queue", async () => {
  const scheduler = createScheduler({ slots: 1, maxWaitMs: 1.5 * costMs });
  const enter = (flow: string) => scheduler.enter({ ...work, flow }, never);
  const places = createQueuePlaces(scheduler, work);
  places.join("one");
  const slot = await places.enter(never, () => {});
  const [a, b] = [enter("a"), enter("b")];
  slot[Symbol.dispose]();
  const running = await a;
  await expect(enter("new")).rejects.toMatchObject({ code: "overloaded" });
  const leaving = new AbortController();
  const left = places.enter(leaving.signal, () => {});
  expect(scheduler.status().waiting).toBe(2);
  leaving.abort(new Error("another node searches"));
  await expect(left).rejects.toThrow("another node searches");
  expect(scheduler.status().waiting).toBe(1);
  const again = places.enter(never, () => {});
  expect(scheduler.status()).toMatchObject({ waiting: 2, refused: 1 });
  running[Symbol.dispose]();
  (await b)[Symbol.dispose]();
  (await again)[Symbol.dispose]();
  expect(scheduler.status()).toMatchObject({ running: 0, waiting: 0 });
});

test("a search whose callers have left enters no queue", async () => {
  const scheduler = createScheduler({ slots: 1, maxWaitMs: 600_000 });
  const places = createQueuePlaces(scheduler, work);
  places.join("one");
  await expect(places.enter(AbortSignal.abort(new Error("gone")), () => {})).rejects.toThrow("gone");
  expect(scheduler.status()).toMatchObject({ running: 0, started: 0 });
});

test("a search leaves no listener on its signal: a composite signal with a listener is never collected", async () => {
  const { signal } = new AbortController();
  const listeners = () => getEventListeners(signal, "abort").length;
  const places = createQueuePlaces(createScheduler({ slots: 1, maxWaitMs: 0 }), work);
  places.join("single");
  const slot = await places.enter(signal, () => {});
  expect(listeners()).toBe(1);
  slot[Symbol.dispose]();
  expect(listeners()).toBe(0);
  const { scheduler } = await busyScheduler(0, 0);
  const refused = createQueuePlaces(scheduler, work);
  refused.join("single");
  await expect(refused.enter(signal, () => {})).rejects.toMatchObject({ code: "overloaded" });
  expect(listeners()).toBe(0);
});
