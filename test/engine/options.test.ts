import { describe, expect, test } from "vitest";
import { profileOf } from "../../src/engine/profiles.ts";
import {
  callersOptionsFrom,
  complaintsAbout,
  createOptionState,
  type UciOption,
} from "../../src/engine/uci/options.ts";
import { parseLine } from "../../src/engine/uci/parse-line.ts";

const callersOptionsOf = (all: readonly UciOption[], family = "stockfish") =>
  callersOptionsFrom(all, profileOf(family).callersOptions);

function declared(...lines: readonly string[]): UciOption[] {
  return lines.map((line) => {
    const parsed = parseLine(`option name ${line}`);
    return parsed.kind === "option" ? parsed.option : expect.fail(line);
  });
}

describe("the options that callers may set", () => {
  test("callers may set only four options of an engine, which are listed in a fixed order", () => {
    const options = callersOptionsOf(
      declared(
        "Debug Log File type string default <empty>",
        "NumaPolicy type string default auto",
        "Threads type spin default 1 min 1 max 1024",
        "Hash type spin default 16 min 1 max 33554432",
        "Clear Hash type button",
        "Ponder type check default false",
        "UCI_Chess960 type check default false",
        "MultiPV type spin default 1 min 1 max 256",
        "nodestime type spin default 0 min 0 max 10000",
        "UCI_Elo type spin default 1320 min 1320 max 3190",
        "UCI_LimitStrength type check default false",
        "Skill Level type spin default 20 min 0 max 20",
        "SyzygyPath type string default <empty>",
        "EvalFile type string default nn-1a298aa575a0.nnue",
        "UCI_ShowWDL type check default false",
      ),
    );
    expect(options).toEqual([
      {
        name: "skill_level",
        engineName: "Skill Level",
        kind: "integer",
        default: 20,
        minimum: 0,
        maximum: 20,
      },
      { name: "uci_limit_strength", engineName: "UCI_LimitStrength", kind: "boolean", default: false },
      {
        name: "uci_elo",
        engineName: "UCI_Elo",
        kind: "integer",
        default: 1320,
        minimum: 1320,
        maximum: 3190,
      },
      { name: "uci_chess960", engineName: "UCI_Chess960", kind: "boolean", default: false },
    ]);
  });

  test("callers may set only options that the engine has", () => {
    expect(callersOptionsOf([])).toEqual([]);
    const names = callersOptionsOf(declared("UCI_Chess960 type check default true")).map(({ name }) => name);
    expect(names).toEqual(["uci_chess960"]);
  });

  test("callers may set only the options that the family of the engine allows", () => {
    const all = declared(
      "Skill Level type spin default 20 min 0 max 20",
      "UCI_Chess960 type check default false",
    );
    expect(callersOptionsOf(all, "lc0").map(({ name }) => name)).toEqual(["uci_chess960"]);
  });

  test.each([
    ["as a string", "Skill Level type string default <empty>"],
    ["as a check box", "Skill Level type check default true"],
    ["without bounds", "Skill Level type spin default 20"],
    ["without an upper bound", "Skill Level type spin default 20 min 0"],
    ["without a default", "Skill Level type spin min 0 max 20"],
    ["with a default that is not an integer", "Skill Level type spin default high min 0 max 20"],
    ["with another spelling", "skill level type spin default 20 min 0 max 20"],
  ])("callers cannot set an option that an engine declares %s", (_, line) => {
    expect(callersOptionsOf(declared(line))).toEqual([]);
  });
});

describe("the values of a description", () => {
  const ofEngine = declared(
    "Time per min move type spin default 5 min 0 max 9",
    "default type check default true",
    "Style type combo default Normal var Solid var Very Risky var Normal",
    "Free type spin default 5",
    "From type spin default 5 min 1",
  );
  const complaintsOf = (name: string, value: string) => complaintsAbout(new Map([[name, value]]), ofEngine);

  test("the name of an option may contain the words that begin the other parts of its declaration", () => {
    expect(ofEngine.slice(0, 2)).toMatchObject([
      { name: "Time per min move", type: "spin", default: "5", min: 0, max: 9 },
      { name: "default", type: "check", default: "true" },
    ]);
  });

  test.each([
    ["Time per min move", "3"],
    ["default", "false"],
    ["Style", "very risky"],
    ["Free", "-7"],
    ["From", "1000"],
  ])("the option %s takes the value %s", (name, value) => {
    expect(complaintsOf(name, value)).toEqual([]);
  });

  test.each([
    ["Style", "Wild", 'the option "Style" must be one of Solid, Very Risky, Normal, not "Wild".'],
    ["Free", "high", 'the option "Free" must be an integer, not "high".'],
    ["From", "0", 'the option "From" must be an integer of at least 1, not "0".'],
    ["Time per min move", "10", 'the option "Time per min move" must be an integer from 0 to 9, not "10".'],
  ])("the option %s does not take the value %s", (name, value, complaint) => {
    expect(complaintsOf(name, value)).toEqual([complaint]);
  });
});

describe("the options of an engine", () => {
  const ofEngine = declared(
    "MultiPV type spin default 1 min 1 max 256",
    "Skill Level type spin default 20 min 0 max 20",
    "UCI_Chess960 type check default false",
  );

  test("only options with a new value are sent, and unknown options are omitted", () => {
    const state = createOptionState(ofEngine);
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

  test("every changed option is reset to its default exactly once", () => {
    const state = createOptionState(ofEngine);
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
});
