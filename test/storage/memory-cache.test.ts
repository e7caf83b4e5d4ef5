import { expect, test } from "vitest";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import { type TestValue, testCache } from "../contract/store.ts";

interface Value {
  readonly text: string;
}
const value: Value = { text: "kept" };
const keysOf = (count: number, prefix = "key") =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index}`);

testCache("memory", () => createMemoryCache<TestValue>({ bytes: 1e6 }));

test("the cache in memory stays within its size limit, and evicts the least recently used answers first", () => {
  const bytes = 1e6;
  const cache = createMemoryCache<Value>({ bytes });
  const text = "x".repeat(500);
  const keys = keysOf(1000);
  for (const key of keys) {
    cache.set(key, { text });
  }
  // Starts with the newest value, because reading a value protects it from eviction.
  const kept = keys.toReversed().filter((key) => cache.get(key));
  expect(kept.length * text.length).toBeLessThan(bytes / 12);
  expect(kept.length * text.length).toBeGreaterThan(bytes / 20);
  expect(kept).toEqual(keys.toReversed().slice(0, kept.length));
});

test("the cache in memory keeps repeatedly used answers, even if many others are added", () => {
  const cache = createMemoryCache<Value>({ bytes: 1e6 });
  const popular = keysOf(20, "popular");
  for (const key of popular) {
    cache.set(key, { text: key.repeat(100) });
  }
  for (const [index, key] of keysOf(5000).entries()) {
    cache.set(key, { text: key.repeat(100) });
    const asked = popular[index % popular.length] as string;
    expect(cache.get(asked), `after ${index}`).toEqual({ text: asked.repeat(100) });
    // Values that are used only once do not evict the repeatedly used one.
    cache.get(key);
  }
});

test("the cache in memory counts the size of keys as well as of answers", () => {
  const cache = createMemoryCache<Value>({ bytes: 100_000 });
  const history = "e2e4 ".repeat(600);
  const keys = keysOf(1000, history);
  for (const key of keys) {
    cache.set(key, value);
  }
  const kept = keys.filter((key) => cache.get(key)).length;
  expect(kept).toBeGreaterThan(10);
  expect(kept * history.length).toBeLessThan(100_000);
});

test("the cache in memory does not store an answer that would fill much of the cache", () => {
  const cache = createMemoryCache<Value>({ bytes: 100_000 });
  cache.set("a", value);
  cache.set("b", { text: "x".repeat(50_000) });
  expect(cache.get("b")).toBeUndefined();
  expect(cache.get("a")).toEqual(value);
});

test("a cache in memory of size 0 stores nothing", () => {
  const cache = createMemoryCache<Value>({ bytes: 0 });
  cache.set("a", value);
  expect(cache.get("a")).toBeUndefined();
});
