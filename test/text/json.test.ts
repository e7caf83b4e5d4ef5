import { expect, test } from "vitest";
import { wellFormedJson } from "../../src/text/json.ts";

test.each([
  [String.raw`{"\ud800":"\uDFFF"}`, String.raw`{"\ufffd":"\ufffd"}`],
  [String.raw`"\udc00\ud800"`, String.raw`"\ufffd\ufffd"`],
  [String.raw`"\ud83d\ud83d\ude00"`, String.raw`"\ufffd\ud83d\ude00"`],
  [String.raw`"\\\ud800"`, String.raw`"\\\ufffd"`],
  ['"a\ud800b"', '"a\ufffdb"'],
])("half of a surrogate pair in the JSON text %s becomes U+FFFD", (text, expected) => {
  expect(wellFormedJson(text)).toBe(expected);
  expect(JSON.stringify(JSON.parse(wellFormedJson(text)))).not.toMatch(/\\ud/);
});

test.each([
  String.raw`{"\ud83d\ude00":"\uD83D\uDE00"}`,
  String.raw`{"a":"\\ud800","b":"\\\\udc00"}`,
  String.raw`"\ud8"`,
  String.raw`"\u0041\ufffd"`,
  '{"fen":"8/8 😀"}',
])("a JSON text without half of a surrogate pair does not change: %s", (text) => {
  expect(wellFormedJson(text)).toBe(text);
});

test.each([
  ["halves", "\\ud800"],
  ["pairs", "\\ud83d\\ude00"],
  ["backslashes before a half", "\\\\"],
])("a JSON text of 1 MiB of %s is read in linear time", (_, piece) => {
  const msFor = (length: number) => {
    const text = `"${piece.repeat(length / piece.length)}\\ud800"`;
    const begin = performance.now();
    wellFormedJson(text);
    return performance.now() - begin;
  };
  msFor(2 ** 16);
  // If the time were quadratic, this text would take minutes.
  expect(msFor(2 ** 20)).toBeLessThan(2000);
});
