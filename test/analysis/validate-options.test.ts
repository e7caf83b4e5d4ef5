import { describe, expect, test } from "vitest";
import { validateOptions } from "../../src/analysis/validate-options.ts";
import { KibitzError, type Violation } from "../../src/errors/errors.ts";
import { options } from "../engine/build-of.ts";

function violationsOf(given: Readonly<Record<string, unknown>>): readonly Violation[] {
  try {
    validateOptions(given, options);
  } catch (error) {
    return error instanceof KibitzError ? error.violations : expect.fail(String(error));
  }
  return expect.fail("accepted");
}

describe("options are taken over as they are, and those in effect are known", () => {
  const all = undefined;
  type Values = Readonly<Record<string, number | boolean>>;
  test.each<[given: Values, weakened: boolean, effective: Values | undefined]>([
    [{}, false, all],
    [{ skill_level: 0 }, true, all],
    [{ skill_level: 19 }, true, all],
    [{ skill_level: 20 }, false, {}],
    [{ uci_limit_strength: true }, true, all],
    [{ uci_limit_strength: false }, false, {}],
    [{ uci_limit_strength: true, uci_elo: 1320 }, true, { uci_limit_strength: true }],
    [{ uci_limit_strength: true, uci_elo: 3190 }, true, all],
    // The position decides about Chess960, so the option is not sent to the engine.
    [{ uci_chess960: true }, false, {}],
    [{ uci_chess960: false, skill_level: 20 }, false, {}],
  ])(
    "the validation returns the options unchanged, and says whether they weaken the engine: %j, weakened: %s",
    (given, weakened, effectiveOptions = given) => {
      expect(validateOptions(given, options)).toEqual({ options: given, effectiveOptions, weakened });
    },
  );
});

describe("an engine whose defaults limit its strength is weakened, unless the caller sets the full strength", () => {
  const limited = options.map((option) =>
    option.kind === "boolean" && option.name === "uci_limit_strength" ? { ...option, default: true } : option,
  );
  const unskilled = options.map((option) =>
    option.kind === "integer" && option.name === "skill_level" ? { ...option, default: 3 } : option,
  );
  test.each<[what: string, given: object, declared: typeof options, weakened: boolean]>([
    ["a low skill level", {}, unskilled, true],
    ["a low skill level and the highest of the caller", { skill_level: 20 }, unskilled, false],
    ["a limited strength", {}, limited, true],
    ["a limited strength and the rating of the caller", { uci_elo: 1500 }, limited, true],
    ["a limited strength, which the caller switches off", { uci_limit_strength: false }, limited, false],
  ])("%s", (_, given, declared, weakened) => {
    expect(validateOptions({ ...given }, declared).weakened).toBe(weakened);
  });
});

describe("options are refused, never clamped", () => {
  const integer = (minimum: number, maximum: number) => ({ type: "integer", minimum, maximum });

  test.each<[given: Readonly<Record<string, unknown>>, pointer: string, allowed: unknown]>([
    [{ skill_level: 21 }, "/options/skill_level", integer(0, 20)],
    [{ skill_level: -1 }, "/options/skill_level", integer(0, 20)],
    [{ skill_level: 5.5 }, "/options/skill_level", integer(0, 20)],
    [{ skill_level: "5" }, "/options/skill_level", integer(0, 20)],
    [{ skill_level: true }, "/options/skill_level", integer(0, 20)],
    [{ skill_level: null }, "/options/skill_level", integer(0, 20)],
    [{ skill_level: [5] }, "/options/skill_level", integer(0, 20)],
    [{ skill_level: Number.NaN }, "/options/skill_level", integer(0, 20)],
    [{ uci_limit_strength: true, uci_elo: 1319 }, "/options/uci_elo", integer(1320, 3190)],
    [{ uci_limit_strength: true, uci_elo: 3191 }, "/options/uci_elo", integer(1320, 3190)],
    [{ uci_chess960: 1 }, "/options/uci_chess960", { type: "boolean" }],
    [{ uci_chess960: "true" }, "/options/uci_chess960", { type: "boolean" }],
    [{ uci_elo: 1500 }, "/options/uci_elo", undefined],
    [{ uci_elo: 1500, uci_limit_strength: false }, "/options/uci_elo", undefined],
    [{ uci_elo: 1500, uci_limit_strength: true, skill_level: 3 }, "/options/uci_elo", undefined],
  ])("invalid options are refused, not adjusted: %j", (given, pointer, allowed) => {
    expect(violationsOf(given)).toMatchObject([{ pointer, code: "invalid_option" }]);
    expect(violationsOf(given)[0]?.allowed).toEqual(allowed);
  });

  test.each([
    [{ skill_level: "5" }, '`skill_level` must be an integer from 0 to 20, not "5".'],
    [{ skill_level: [5] }, "`skill_level` must be an integer from 0 to 20, not an array."],
    [{ uci_chess960: 1 }, "`uci_chess960` must be true or false, not 1."],
    [
      { uci_elo: 1500 },
      '`uci_elo` has no effect without `uci_limit_strength`: add "uci_limit_strength": true.',
    ],
    [
      { hash: 1 },
      "`hash` is not an option that can be set on this engine: the options are skill_level, uci_limit_strength, uci_elo, uci_chess960.",
    ],
  ])("the error message for an option is a complete sentence: %j", (given, message) => {
    expect(violationsOf(given)).toMatchObject([{ message }]);
  });

  test.each(["hash", "Skill Level", "multipv", "Debug Log File", "constructor"])(
    "the option %s of the engine cannot be set by a caller",
    (name) => {
      expect(violationsOf({ [name]: 1 })).toMatchObject([
        {
          pointer: `/options/${name}`,
          code: "option_not_allowed",
          allowed: { enum: ["skill_level", "uci_limit_strength", "uci_elo", "uci_chess960"] },
        },
      ]);
    },
  );

  test("each invalid option has its own violation", () => {
    expect(violationsOf({ skill_level: 99, hash: 1, uci_chess960: 1 }).map(({ pointer }) => pointer)).toEqual(
      ["/options/skill_level", "/options/hash", "/options/uci_chess960"],
    );
  });

  test("the violation of an unknown option escapes the name in its pointer, and repeats at most 64 characters of the name", () => {
    expect(violationsOf({ "a/b~c": 1 })).toMatchObject([{ pointer: "/options/a~1b~0c" }]);
    // A lone surrogate is not valid in gRPC.
    expect(violationsOf({ [`${"x".repeat(63)}😀`]: 1 })[0]?.pointer.isWellFormed()).toBe(true);
    const [violation] = violationsOf({ ["x".repeat(100)]: 1 });
    expect(violation?.pointer).not.toContain("x".repeat(65));
    expect(violation?.message).not.toContain("x".repeat(65));
  });
});

test("an error about thousands of unknown options names the first 20", () => {
  const given = Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`n${index}`, 0]));
  expect(violationsOf(given)).toHaveLength(20);
});
