import { expect, test } from "vitest";
import { createOptionState, type UciOption } from "../../src/engine/uci/options.ts";
import { parseLine } from "../../src/engine/uci/parse-line.ts";

function optionFrom(line: string): UciOption {
  const parsed = parseLine(line);
  return parsed.kind === "option" ? parsed.option : expect.fail(line);
}

const options = [
  "option name MultiPV type spin default 1 min 1 max 256",
  "option name Skill Level type spin default 20 min 0 max 20",
  "option name UCI_Chess960 type check default false",
].map(optionFrom);

test("only options that differ are set, and options that the engine lacks are left out", () => {
  const state = createOptionState(options);
  expect(
    state.set([
      ["MultiPV", "1"],
      ["Skill Level", "3"],
      ["Contempt", "5"],
    ]),
  ).toEqual(["setoption name Skill Level value 3"]);
  expect(state.set([["Skill Level", "3"]])).toEqual([]);
  expect(state.set([["Skill Level", "20"]])).toEqual(["setoption name Skill Level value 20"]);
});

test("all changed options are set back to their defaults, once", () => {
  const state = createOptionState(options);
  state.set([
    ["MultiPV", "4"],
    ["UCI_Chess960", "true"],
  ]);
  expect(state.reset()).toEqual([
    "setoption name MultiPV value 1",
    "setoption name UCI_Chess960 value false",
  ]);
  expect(state.reset()).toEqual([]);
  expect(state.set([["MultiPV", "4"]])).toEqual(["setoption name MultiPV value 4"]);
});
