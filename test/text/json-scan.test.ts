import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countJson } from "../../src/text/json.ts";

const nothing = { levels: 0, parts: 0, members: 0, items: 0, itemLength: 0, itemMembers: 0 };

describe("a scan of JSON", () => {
  test.each([
    ["a text without brackets", ' "a,[:]" ', nothing],
    ["an object", '{"a": 1, "b": {"c": 2}}', { levels: 2, parts: 6, members: 3 }],
    ["marks and escaped quotes in strings", '{"\\"[,": "\\\\", "b": "\\\\\\"]"}', { parts: 4, members: 2 }],
    ["an empty list", '{"a": [ ]}', { items: 0, levels: 2 }],
    ["a list", '{"a": [1, {"b": 2, "c": [3, 4]}, "x,y"]}', { items: 3, itemLength: 22, itemMembers: 2 }],
    ["two lists", '{"a": [1, 2], "b": [3]}', { items: 3 }],
    ["an object in an object", '{"a": {"b": 1, "c": 2}}', { items: 0 }],
    ["a list at the top level", "[[1, 2], 3]", { items: 2 }],
    ["an unclosed list", '{"a": [1, 2', { items: 1 }],
    ["an unclosed string", '{"a": "[[[[', { levels: 1, parts: 2 }],
    ["brackets only", "[".repeat(20_000), { levels: 20_000, parts: 20_000 }],
    ["closing brackets only", "]".repeat(20_000), nothing],
  ])("the JSON scanner counts %s correctly", (_, text, count) => {
    expect(countJson(text)).toMatchObject(count);
  });

  test("the JSON scanner counts as many members and items as JSON.parse finds", () => {
    const levelsOf = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map(levelsOf))
        : 0;
    const membersOf = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? Object.values(value).reduce((sum: number, each) => sum + membersOf(each), 0) +
          (Array.isArray(value) ? 0 : Object.keys(value).length)
        : 0;
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ maxDepth: 4 })),
        fc.jsonValue({ maxDepth: 0 }),
        fc.integer({ min: 0, max: 2 }),
        (requests, other, indent) => {
          const text = JSON.stringify({ requests, other }, null, indent);
          const value = JSON.parse(text);
          const { levels, members, items, itemMembers } = countJson(text);
          expect({ levels, members, items, itemMembers }).toEqual({
            levels: levelsOf(value),
            members: membersOf(value),
            items: requests.length,
            itemMembers: Math.max(0, ...requests.map(membersOf)),
          });
        },
      ),
    );
  });

  // A linear scan takes about 20 ms. A quadratic scan would take a minute.
  test.each([
    ["a long name before many lists", `{"${"a".repeat(400_000)}":${"[]".repeat(300_000)}`],
    ["a name of escaped quotes", `{"${'\\"'.repeat(500_000)}":[]}`],
    ["quotes without an end", '"\\'.repeat(500_000)],
    ["backslashes", `"${"\\".repeat(1_000_000)}"`],
  ])("a megabyte of %s is scanned in linear time", { timeout: 30_000 }, (_, text) => {
    expect(countJson(text).parts).toBeLessThan(text.length);
  });
});
