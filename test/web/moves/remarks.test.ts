import { expect, test } from "vitest";
import { drawingsOf, withDrawings, withGlyph, withText } from "../../../web/src/moves/remarks.ts";

test("arrows and circles are read from the commands `cal` and `csl`", () => {
  expect(drawingsOf(["[%csl Gd4,Rd5] a plan", "[%cal Bg1f3] [%clk 0:03:00]"])).toEqual([
    { colour: "G", from: "d4", to: undefined },
    { colour: "R", from: "d5", to: undefined },
    { colour: "B", from: "g1", to: "f3" },
  ]);
});

test("changed drawings replace only the former drawings", () => {
  const before = ["[%csl Gd4] [%clk 0:03:00] a plan", "[%cal Bg1f3]", "more"];
  const arrow = { colour: "Y", from: "e2", to: "e4" } as const;
  expect(withDrawings(before, [arrow, { colour: "R", from: "e5", to: undefined }])).toEqual([
    "[%csl Re5] [%cal Ye2e4] [%clk 0:03:00] a plan",
    "more",
  ]);
  expect(withDrawings(["[%csl Gd4]"], [])).toEqual([]);
});

test("a changed text keeps the clock and the drawings, and cannot end the comment", () => {
  expect(withText(["[%clk 0:03:00] old", "[%cal Gg1f3] older"], " a {new}\n plan ")).toEqual([
    "[%clk 0:03:00] [%cal Gg1f3] a (new) plan",
  ]);
  expect(withText(["old"], " ")).toEqual([]);
});

test("a glyph replaces the glyph of the same group, and is removed if it is chosen again", () => {
  expect(withGlyph([2, 14, 36], 1)).toEqual([1, 14, 36]);
  expect(withGlyph([1, 14, 36], 14)).toEqual([1, 36]);
});
