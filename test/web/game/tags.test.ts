import { expect, test } from "vitest";
import { fileNameOf, known } from "../../../web/src/game/tags.ts";

test("a question mark in a tag means an unknown value", () => {
  expect(known(new Map([["White", "?"]]), "White")).toBeUndefined();
  expect(known(new Map([["Date", "????.??.??"]]), "Date")).toBeUndefined();
  expect(known(new Map(), "White")).toBeUndefined();
  expect(known(new Map([["White", " Ding "]]), "White")).toBe("Ding");
});

test.each([
  [{ White: "Morphy, Paul", Black: "Isouard", Date: "1858.??.??" }, "Morphy-Paul-Isouard-1858.pgn"],
  [{ White: "../../etc/passwd", Black: 'a"b<c>' }, "etc-passwd-a-b-c.pgn"],
  [{ White: "Ľubomír", Black: "?" }, "Ľubomír.pgn"],
  [{}, "game.pgn"],
])("the downloaded file of %j is named %s", (tags, name) => {
  expect(fileNameOf(new Map(Object.entries(tags)))).toBe(name);
});
