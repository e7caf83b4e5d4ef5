import { describe, expect, test } from "vitest";
import type { AnalysisCache } from "../../src/storage/ports.ts";

interface Value {
  readonly text: string;
  readonly numbers: readonly number[];
}

const never = new AbortController().signal;
const madeUp = (text: string): Value => ({ text, numbers: [1, 2.5, -3] });

/** The contract of every cache, wherever it keeps its values. `create` makes one that is empty and has room for 100. */
export function testCache(name: string, create: () => AnalysisCache<Value>): void {
  describe(`the cache in ${name}`, () => {
    test(`the cache in ${name} returns a stored value`, async () => {
      const cache = create();
      cache.set("a", madeUp("one"));
      cache.set("b", madeUp("two"));
      expect(await cache.get("a", never)).toEqual(madeUp("one"));
      expect(await cache.get("b", never)).toEqual(madeUp("two"));
    });

    test(`the cache in ${name} returns nothing for an unknown key`, async () => {
      const cache = create();
      cache.set("a", madeUp("one"));
      for (const key of ["A", "a ", "", "toString", "__proto__"]) {
        expect(await cache.get(key, never)).toBeUndefined();
      }
    });

    test(`the cache in ${name} tells long keys apart by their last character`, async () => {
      const cache = create();
      const long = "e2e4 ".repeat(600);
      cache.set(`${long}1`, madeUp("one"));
      cache.set(`${long}2`, madeUp("two"));
      expect(await cache.get(`${long}1`, never)).toEqual(madeUp("one"));
      expect(await cache.get(long, never)).toBeUndefined();
    });

    test(`the cache in ${name} keeps the newest value of a key`, async () => {
      const cache = create();
      cache.set("a", madeUp("one"));
      cache.set("a", madeUp("two"));
      expect(await cache.get("a", never)).toEqual(madeUp("two"));
    });

    test(`the cache in ${name} stores every character`, async () => {
      const cache = create();
      const odd = '♔ \u0000\n|="\\';
      cache.set(odd, madeUp(odd));
      expect(await cache.get(odd, never)).toEqual(madeUp(odd));
    });

    test(`the cache in ${name} never fails, also if its caller has left or its value is empty`, async () => {
      const cache = create();
      cache.set("a", madeUp("one"));
      const found = await cache.get("a", AbortSignal.abort(new Error("gone")));
      expect([undefined, madeUp("one")]).toContainEqual(found);
    });
  });
}
