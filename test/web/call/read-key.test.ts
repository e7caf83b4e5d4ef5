import { expect, test } from "vitest";
import { readKey, shownKey } from "../../../web/src/call/read-key.ts";

test.each([
  [" kbz_abc123\n", "kbz_abc123"],
  ["Bearer kbz_abc123", "kbz_abc123"],
  ["", undefined],
  ["two words", undefined],
  ["kbz_ä", undefined],
  ["a\nb", undefined],
  ["abc123", undefined],
  ["kbz_a;rm", undefined],
  [`kbz_${"x".repeat(509)}`, undefined],
])("the key field reads %j as %j", (text, key) => {
  expect(readKey(text)).toBe(key);
});

test("the page hides the secret part of a key", () => {
  expect(shownKey("kbz_pL8TOJ6J1kVEqe6U1WlfCKcW2SUAsO30kzkf")).toBe("kbz_••••••••");
  expect(shownKey("abc")).toBe("••••••••");
});
