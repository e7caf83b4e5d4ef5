import { setImmediate as settle } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCoalescer, type SharedWork } from "../../src/analysis/coalesce.ts";

const never = new AbortController().signal;

test("shared work is told who joins it, and who leaves while others stay", async () => {
  const coalescer = createCoalescer<number, string>();
  const told: string[] = [];
  const end = Promise.withResolvers<number>();
  const work: SharedWork<number, string> = (_publish, _signal, sharers) => {
    sharers.watch(
      (who) => told.push(`${who} came`),
      (who) => told.push(`${who} left`),
    );
    return end.promise;
  };
  const leaving = new AbortController();
  const first = coalescer.last("a", work, "first", leaving.signal);
  const second = coalescer.last("a", work, "second", never);
  const watcher = Array.fromAsync(coalescer.all("a", work, "third", never));
  await settle();
  leaving.abort(new Error("gone"));
  await expect(first).rejects.toThrow("gone");
  expect(told).toEqual(["second came", "third came", "first left"]);
  end.resolve(1);
  await Promise.all([second, watcher]);
  expect(told).toHaveLength(3);
});
