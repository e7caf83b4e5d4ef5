import { describe, expect, test } from "vitest";
import type { AnswerCache, SharedAnswers } from "../../src/storage/ports.ts";

export interface TestValue {
  readonly text: string;
  readonly numbers: readonly number[];
}

const madeUp = (text: string): TestValue => ({ text, numbers: [1, 2.5, -3] });

/** Defines the tests that every cache must pass. `create` returns an empty cache for 100 values. */
export function testCache(
  name: string,
  create: () => AnswerCache<TestValue> | SharedAnswers<TestValue>,
): void {
  describe(`the cache in ${name}`, () => {
    test(`the cache in ${name} returns a stored value`, async () => {
      const cache = create();
      cache.set("a", madeUp("one"));
      cache.set("b", madeUp("two"));
      expect(await cache.get("a")).toEqual(madeUp("one"));
      expect(await cache.get("b")).toEqual(madeUp("two"));
    });

    test(`the cache in ${name} returns nothing for an unknown key`, async () => {
      const cache = create();
      cache.set("a", madeUp("one"));
      for (const key of ["A", "a ", "", "toString", "__proto__"]) {
        expect(await cache.get(key)).toBeUndefined();
      }
    });

    test(`the cache in ${name} distinguishes long keys that differ only in the last character`, async () => {
      const cache = create();
      const long = "e2e4 ".repeat(600);
      cache.set(`${long}1`, madeUp("one"));
      cache.set(`${long}2`, madeUp("two"));
      expect(await cache.get(`${long}1`)).toEqual(madeUp("one"));
      expect(await cache.get(long)).toBeUndefined();
    });

    test(`the cache in ${name} returns the newest value of a key`, async () => {
      const cache = create();
      cache.set("a", madeUp("one"));
      cache.set("a", madeUp("two"));
      expect(await cache.get("a")).toEqual(madeUp("two"));
    });

    test(`the cache in ${name} can store every Unicode character`, async () => {
      const cache = create();
      const odd = '♔ \u0000\n|="\\';
      cache.set(odd, madeUp(odd));
      expect(await cache.get(odd)).toEqual(madeUp(odd));
    });
  });
}
