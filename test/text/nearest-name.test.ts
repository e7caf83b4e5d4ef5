import { expect, test } from "vitest";
import { nearestName } from "../../src/text/nearest-name.ts";

const fields = ["fen", "moves", "depth", "multipv", "movetime_ms", "engine", "path", "options"];

test.each([
  ["deph", "depth"],
  ["depht", "depth"],
  ["dpeth", "depth"],
  ["FEN", "fen"],
  ["movetimeMs", "movetime_ms"],
  ["MoveTime-MS", "movetime_ms"],
  ["movetiem_ms", "movetime_ms"],
  ["multi_pv", "multipv"],
  ["egnine", "engine"],
])("the misspelled field name %s is corrected to %s", (written, meant) => {
  expect(nearestName(written, fields)).toBe(meant);
});

test.each(["position", "x", "", "d".repeat(33), "htped"])(
  "the unknown field name %j is not corrected",
  (written) => {
    expect(nearestName(written, fields)).toBeUndefined();
  },
);

test("the name that an engine uses for an option is corrected to the API's name", () => {
  expect(nearestName("Skill Level", ["skill_level", "uci_elo"])).toBe("skill_level");
  expect(nearestName("UCI_LimitStrength", ["uci_limit_strength"])).toBe("uci_limit_strength");
});
