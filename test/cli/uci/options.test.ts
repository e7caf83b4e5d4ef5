import { describe, expect, test } from "vitest";
import { createOptions } from "../../../src/cli/uci/options.ts";
import { declared } from "./scripted-service.ts";

const options = () => createOptions({ declared, multipvMax: 10, overheadMs: 30 });

test("kibitz uci declares every option, those of the engine with its own bounds", () => {
  expect(options().declare()).toEqual([
    "option name Hash type spin default 16 min 1 max 33554432",
    "option name Threads type spin default 1 min 1 max 1024",
    "option name Clear Hash type button",
    "option name Ponder type check default false",
    "option name MultiPV type spin default 1 min 1 max 10",
    "option name Move Overhead type spin default 30 min 0 max 5000",
    "option name UCI_ShowWDL type check default false",
    "option name Skill Level type spin default 20 min 0 max 20",
    "option name UCI_LimitStrength type check default false",
    "option name UCI_Elo type spin default 1320 min 1320 max 3190",
    "option name UCI_Chess960 type check default false",
  ]);
});

test("setoption sets values by names in any case, without output", () => {
  const set = options();
  expect([
    ...set.set("multipv", "3"),
    ...set.set("UCI_SHOWWDL", "true"),
    ...set.set("uci_chess960", "true"),
    ...set.set("Move overhead", "100"),
    ...set.set("Clear Hash", undefined),
    ...set.set("Ponder", "true"),
  ]).toEqual([]);
  expect(set.values).toEqual({ multipv: 3, showWdl: true, chess960: true, overheadMs: 100 });
});

test.each([
  ["MultiPV", "0", "MultiPV 0 is outside 1 to 10: taken as 1"],
  ["MultiPV", "500", "MultiPV 500 is outside 1 to 10: taken as 10"],
  ["Skill Level", "-3", "Skill Level -3 is outside 0 to 20: taken as 0"],
  ["MultiPV", "many", "MultiPV is a whole number, not many: it stays 1"],
  ["UCI_ShowWDL", "yes", "UCI_ShowWDL is true or false, not yes: it stays false"],
  ["SyzygyPath", "/tb", "there is no option SyzygyPath"],
])("setoption %s = %s is answered with %s", (name, value, told) => {
  expect(options().set(name, value)).toEqual([told]);
});

test.each(["Hash", "Threads"])(
  "setoption accepts %s, and says that it has no effect unless the value is the default",
  (name) => {
    const set = options();
    expect(set.set(name, name === "Hash" ? "16" : "1")).toEqual([]);
    expect(set.set(name, "64")).toEqual([expect.stringMatching(`^${name} has no effect: `)]);
  },
);

describe("the engine is told", () => {
  const told = (...settings: readonly (readonly [string, string])[]) => {
    const set = options();
    for (const [name, value] of settings) {
      set.set(name, value);
    }
    return set.forEngine();
  };

  test("kibitz uci sends the engine no option that has its default", () => {
    expect(told()).toEqual({});
    expect(told(["Skill Level", "20"], ["UCI_Elo", "1500"])).toEqual({});
  });

  test("kibitz uci sends only one strength to the engine, because the service refuses two", () => {
    expect(told(["Skill Level", "5"])).toEqual({ skill_level: 5 });
    expect(told(["Skill Level", "5"], ["UCI_LimitStrength", "true"], ["UCI_Elo", "1500"])).toEqual({
      uci_limit_strength: true,
      uci_elo: 1500,
    });
  });
});
