import { expect, test } from "vitest";
import { createOptions } from "../../../src/cli/uci/options.ts";
import { declared } from "./talk.ts";

const createThem = () => createOptions(declared, 10, 30);

test("kibitz uci declares its options and the options of the engine, with the bounds of the engine", () => {
  expect(createThem().declare()).toEqual([
    "option name Hash type spin default 16 min 1 max 33554432",
    "option name Threads type spin default 1 min 1 max 1024",
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

test("setoption accepts option names in upper and lower case, and prints nothing", () => {
  const options = createThem();
  for (const [name, value] of [
    ["multipv", "3"],
    ["UCI_SHOWWDL", "true"],
    ["uci_chess960", "true"],
    ["Move overhead", "100"],
    ["Ponder", "true"],
  ] as const) {
    expect(options.set(name, value)).toBeUndefined();
  }
  expect(options).toMatchObject({ multipv: 3, showWdl: true, chess960: true, overheadMs: 100 });
});

test.each([
  ["MultiPV", "0", "MultiPV cannot be 0: it stays 1"],
  ["MultiPV", "11", "MultiPV cannot be 11: it stays 1"],
  ["Skill Level", "-3", "Skill Level cannot be -3: it stays 20"],
  ["MultiPV", "many", "MultiPV cannot be many: it stays 1"],
  ["UCI_ShowWDL", "yes", "UCI_ShowWDL cannot be yes: it stays false"],
  ["UCI_ShowWDL", undefined, "UCI_ShowWDL cannot be nothing: it stays false"],
  ["SyzygyPath", "/tb", "there is no option SyzygyPath"],
  ["Hash", "many", "Hash cannot be many: it stays 16"],
])("setoption %s = %s is refused with the message %j", (name, value, complaint) => {
  expect(createThem().set(name, value)).toBe(complaint);
});

test.each([
  ["Hash", "1024", "Hash has no effect here: KIBITZ_HASH_MB sets the hash of every engine"],
  ["threads", "4", "Threads has no effect here: KIBITZ_THREADS sets the threads of every engine"],
])("setoption %s = %s is accepted with a message that it has no effect", (name, value, message) => {
  expect(createThem().set(name, value)).toBe(message);
});

test.each([
  ["no default value", { "Skill Level": "20", UCI_Elo: "1500" }, {}],
  ["Skill Level without UCI_LimitStrength", { "Skill Level": "5", UCI_Elo: "1500" }, { skill_level: 5 }],
  [
    "UCI_Elo with UCI_LimitStrength",
    { "Skill Level": "5", UCI_LimitStrength: "true", UCI_Elo: "1500" },
    { uci_limit_strength: true, uci_elo: 1500 },
  ],
  ["UCI_LimitStrength with the least Elo", { UCI_LimitStrength: "true" }, { uci_limit_strength: true }],
])("the options for the engine contain %s", (_, settings, sent) => {
  const options = createThem();
  for (const [name, value] of Object.entries(settings)) {
    options.set(name, value);
  }
  expect(options.forEngine()).toEqual(sent);
});
