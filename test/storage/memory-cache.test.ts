import { expect, test } from "vitest";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import { testCache } from "../contract/store.ts";

const never = new AbortController().signal;
const value = { text: "kept" };

testCache("memory", () => createMemoryCache({ entries: 100 }));

test("memory answers at once, without a promise", () => {
  const cache = createMemoryCache<typeof value>({ entries: 1 });
  cache.set("a", value);
  expect(cache.get("a", never)).toBe(value);
});

test("memory keeps no more than it may, and forgets first what was not asked for longest", () => {
  const cache = createMemoryCache<typeof value>({ entries: 3 });
  for (const key of ["a", "b", "c"]) {
    cache.set(key, value);
  }
  cache.get("a", never);
  cache.set("d", value);
  const kept = ["a", "b", "c", "d"].filter((key) => cache.get(key, never));
  expect(kept).toEqual(["a", "c", "d"]);
});

test("memory counts heavy values as often as they weigh", () => {
  const cache = createMemoryCache<{ weight: number }>({ entries: 10, weightOf: ({ weight }) => weight });
  cache.set("heavy", { weight: 8 });
  cache.set("light", { weight: 1 });
  expect(cache.get("heavy", never)).toBeDefined();
  cache.set("two", { weight: 2 });
  const kept = ["heavy", "light", "two"].filter((key) => cache.get(key, never));
  expect(kept).toEqual(["heavy", "two"]);
});

test("memory counts long keys, too: a history of 600 moves takes more room than its answer", () => {
  const cache = createMemoryCache<typeof value>({ entries: 3 });
  cache.set("a", value);
  cache.set("b".repeat(3000), value);
  expect(cache.get("a", never)).toBeUndefined();
  expect(cache.get("b".repeat(3000), never)).toBe(value);
});

test("memory that may keep nothing keeps nothing", () => {
  const cache = createMemoryCache<typeof value>({ entries: 0 });
  cache.set("a", value);
  expect(cache.get("a", never)).toBeUndefined();
});
