import fc from "fast-check";
import { expect, test } from "vitest";
import { splitList } from "../../src/text/json-scan.ts";
import { inOneGo } from "../../src/thread/event-loop.ts";

const split = (text: string, itemsMax = 200) => inOneGo(splitList(text, "requests", itemsMax));

test("an object is split at its list", () => {
  expect(
    split(' { "a" : [1, 2], "requests" : [ {"x": [1, "]"]} , 7,"a,b" ], "b": {"requests": [3]} } '),
  ).toEqual({
    frame: ' { "a" : [1, 2], "requests" : [], "b": {"requests": [3]} } ',
    items: [' {"x": [1, "]"]} ', " 7", '"a,b" '],
    count: 3,
  });
});

test.each([
  ["no list of that name", '{"request": [1]}'],
  ["a value that is no list", '{"requests": {"0": 1}}'],
  ["the name as a value", '{"a": "requests", "b": [1]}'],
  ["no object", '["requests", [1]]'],
  ["nothing", ""],
  ["a list that does not end", '{"requests": [1, 2'],
])("the text %s is left whole", (_, text) => {
  expect(split(text)).toEqual({ frame: text, items: [], count: undefined });
});

test("the name of the list is known however it is written", () => {
  expect(split('{"req\\u0075ests": [1]}')).toMatchObject({ items: ["1"], count: 1 });
});

test("all items of a list are counted, and a bounded number is kept", () => {
  expect(split(`{"requests":[${"{},".repeat(9999)}{}]}`, 3)).toEqual({
    frame: '{"requests":[]}',
    items: ["{}", "{}", "{}"],
    count: 10_000,
  });
  expect(split('{"requests": [ ]}')).toMatchObject({ items: [], count: 0 });
  // What stands between two commas is an item that is no JSON.
  expect(split('{"requests":[1,,2]}')).toMatchObject({ items: ["1", "", "2"] });
});

test("an object that nests too deeply is not split", () => {
  expect(split(`{"requests":[${"[".repeat(31)}`)).toBeUndefined();
});

test("a megabyte is split in hundreds of time slices", () => {
  let pieces = 0;
  for (const _ of splitList(`{"requests":[${"{},".repeat(340_000)}{}]}`, "requests", 200)) {
    pieces++;
  }
  expect(pieces).toBeGreaterThan(50);
});

const stringOf = (part: string, count: number) => `{"${part.repeat(count)}`;

// It takes about 20 ms. Read anew at each list, the long name alone takes a minute.
test.each([
  ["a long name before many lists", `${stringOf("a", 400_000)}":${"[]".repeat(300_000)}`],
  ["a name of escaped quotes", `${stringOf('\\"', 500_000)}":[]}`],
  ["names that are no JSON", `{${'"\\q":[],'.repeat(125_000)}}`],
])("%s are walked through in time slices, in linear time", { timeout: 30_000 }, (_, text) => {
  let pieces = 0;
  for (const _ of splitList(text, "requests", 200)) {
    pieces++;
  }
  expect(pieces).toBeGreaterThan(15);
});

test("the parts of any JSON are what JSON.parse finds", () => {
  fc.assert(
    fc.property(
      fc.record({
        a: fc.jsonValue({ maxDepth: 3 }),
        requests: fc.array(fc.jsonValue({ maxDepth: 3 })),
        b: fc.jsonValue(),
      }),
      fc.integer({ min: 0, max: 2 }),
      (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const parts = split(text, 1000);
        expect(parts?.items.map((item) => JSON.parse(item))).toEqual(JSON.parse(text).requests);
        expect(JSON.parse(parts?.frame ?? "")).toEqual({ ...JSON.parse(text), requests: [] });
      },
    ),
  );
});
