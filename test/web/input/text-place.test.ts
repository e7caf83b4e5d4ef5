import { expect, test } from "vitest";
import { lineAround, placeOfToken } from "../../../web/src/input/text-place.ts";

const text = '[White "A"]\n\n1. e4 e5\n2. Ke3 *';

test("the page marks the token that the error names", () => {
  const place = placeOfToken(text, text.indexOf("Ke3"), "Ke3");
  expect(text.slice(place.start, place.end)).toBe("Ke3");
});

test("the page marks the word at the position of the error if this word is not the token that the error names", () => {
  const place = placeOfToken(text, text.indexOf("Ke3"), "Ke…");
  expect(text.slice(place.start, place.end)).toBe("Ke3");
});

test("if an error is at the end of the text, the page marks no character", () => {
  expect(placeOfToken(text, text.length, "")).toEqual({ start: text.length, end: text.length });
});

test("the page splits the line of an error into three parts", () => {
  expect(lineAround(text, placeOfToken(text, text.indexOf("Ke3"), "Ke3"))).toEqual({
    before: "2. ",
    marked: "Ke3",
    behind: " *",
  });
});

test("the page shows the first line of a text from its beginning", () => {
  expect(lineAround("?? e4", { start: 0, end: 2 })).toEqual({ before: "", marked: "??", behind: " e4" });
});

test("the page truncates a long line to the part near the error", () => {
  const long = `${"a ".repeat(200)}HERE${" b".repeat(200)}`;
  const { before, marked, behind } = lineAround(long, { start: 400, end: 404 });
  expect(marked).toBe("HERE");
  expect(before).toMatch(/^….{60}$/);
  expect(behind).toMatch(/^.{60}…$/);
});
