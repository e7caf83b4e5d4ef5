import { describe, expect, test } from "vitest";
import { createCoalescer, type SharedWork } from "../../src/analysis/coalesce.ts";

const never = new AbortController().signal;
/** Lets everything that can go on go on. */
const settle = () => new Promise(setImmediate);

/** Work of which is known whether anybody reads its states; it ends when it is told to. */
function watchedWork() {
  const over = Promise.withResolvers<number>();
  let wanted = false;
  let say = (_state: number) => {};
  const work: SharedWork<number, string> = (publish, _signal, sharers) => {
    say = publish;
    void sharers.statesWanted.then(() => {
      wanted = true;
    });
    return over.promise;
  };
  return { work, end: over.resolve, wanted: () => wanted, say: (state: number) => say(state) };
}

describe("the states of shared work", () => {
  test("the states of shared work are unwanted if all waiters wait for the last one", async () => {
    const coalescer = createCoalescer<number, string>();
    const { work, wanted, end } = watchedWork();
    const both = [1, 2].map(() => coalescer.last("key", work, "somebody", never));
    await settle();
    end(7);
    expect(await Promise.all(both)).toEqual([7, 7]);
    expect(wanted()).toBe(false);
  });

  test("the states of shared work are wanted from the first reader on", async () => {
    const coalescer = createCoalescer<number, string>();
    const { work, wanted, end, say } = watchedWork();
    const last = coalescer.last("key", work, "first", never);
    await settle();
    expect(wanted()).toBe(false);
    const all = Array.fromAsync(coalescer.all("key", work, "second", never));
    await settle();
    expect(wanted()).toBe(true);
    say(1);
    end(2);
    expect(await all).toEqual([1, 2]);
    expect(await last).toBe(2);
  });
});
