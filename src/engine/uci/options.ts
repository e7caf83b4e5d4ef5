import { echo } from "../../text/echo.ts";
import { didYouMean } from "../../text/nearest-name.ts";
import type { EngineOption, OptionTexts, SearchJob } from "../engine.ts";
import type { CallersOption } from "../profiles.ts";

export interface UciOption {
  readonly name: string;
  readonly type: string;
  readonly default: string | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** The values of an option of the type `combo`. */
  readonly choices: readonly string[];
}

/** Returns undefined if the word is not an integer of at most 15 digits. */
export function integerOf(word: string | undefined): number | undefined {
  // Add 0, because -0 + 0 is 0.
  return word !== undefined && /^-?\d{1,15}$/.test(word) ? Number(word) + 0 : undefined;
}

/** Returns undefined if the word is not an integer of 32 bits. */
export function int32Of(word: string | undefined): number | undefined {
  const value = integerOf(word);
  return value === undefined || Math.abs(value) >= 2 ** 31 ? undefined : value;
}

/**
 * Parses a line such as `option name Skill Level type spin default 20 min 0 max 20`. Names and defaults may contain spaces. A name
 * ends before the word `type`.
 */
export function parseOption(words: readonly string[]): UciOption | undefined {
  const parts = new Map<string, string[]>();
  const choices: string[][] = [];
  let part: string[] | undefined;
  for (const word of words.slice(1)) {
    const isName = part !== undefined && part === parts.get("name");
    if (word === "var" && !isName) {
      part = [];
      choices.push(part);
    } else if (
      (isName ? ["type"] : ["name", "type", "default", "min", "max"]).includes(word) &&
      !parts.has(word)
    ) {
      part = [];
      parts.set(word, part);
    } else {
      part?.push(word);
    }
  }
  const text = (key: string) => parts.get(key)?.join(" ");
  const name = text("name");
  const type = text("type");
  if (!name || !type) {
    return undefined;
  }
  return {
    name,
    type,
    default: text("default"),
    min: integerOf(text("min")),
    max: integerOf(text("max")),
    choices: choices.map((choice) => choice.join(" ")),
  };
}

export function callersOptionsFrom(
  declared: readonly UciOption[],
  allowed: readonly CallersOption[],
): readonly EngineOption[] {
  return allowed.flatMap(({ engineName, name, type }) => {
    const option = declared.find((one) => one.name === engineName && one.type === type);
    const read = option && readOption(option);
    return read ? [{ name, engineName, ...read }] : [];
  });
}

type Declared =
  | { readonly kind: "integer"; readonly default: number; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "boolean"; readonly default: boolean };

function readOption(option: UciOption): Declared | undefined {
  if (option.type === "check") {
    return { kind: "boolean", default: option.default === "true" };
  }
  const { min, max } = option;
  const value = Number(option.default);
  return min === undefined || max === undefined || !Number.isInteger(value)
    ? undefined
    : { kind: "integer", default: value, minimum: min, maximum: max };
}

export function valuesOfSearch(
  known: readonly EngineOption[],
  { position, multipv, options }: SearchJob,
): ReadonlyMap<string, string> {
  const asked = known.flatMap(({ name, engineName }) =>
    Object.hasOwn(options, name) ? [[engineName, String(options[name])] as const] : [],
  );
  return new Map([...asked, ["UCI_Chess960", String(position.chess960)], ["MultiPV", String(multipv)]]);
}

/** An engine without the option `MultiPV` prints one principal variation. */
export function linesMaxFrom(declared: readonly UciOption[]): number {
  const option = declared.find(({ name }) => name === "MultiPV");
  return option === undefined ? 1 : Math.max(1, option.max ?? Number.POSITIVE_INFINITY);
}

/** Returns the value that is nearest to `value` and within the bounds of the option. */
export function valueInside(declared: readonly UciOption[], name: string, value: number): string {
  const { min = value, max = value } = declared.find((option) => option.name === name) ?? {};
  return String(Math.min(Math.max(value, min), Math.max(max, min)));
}

/** Returns a text for each value that the engine cannot take. */
export function complaintsAbout(values: OptionTexts, declared: readonly UciOption[]): readonly string[] {
  const names = declared.map(({ name }) => name);
  return [...values].flatMap(([name, value]) => {
    const option = declared.find((one) => one.name === name);
    if (option === undefined) {
      const wayOut = didYouMean(name, names, "the command `uci` lists its options.");
      return [`the engine has no option ${echo(name, '"')}: ${wayOut}`];
    }
    const must = mustOf(option, value);
    return must === undefined
      ? []
      : [`the option ${echo(name, '"')} must be ${must}, not ${echo(value, '"')}.`];
  });
}

/** Returns what the value must be. Undefined if the value is valid. */
function mustOf({ type, min, max, choices }: UciOption, value: string): string | undefined {
  switch (type) {
    case "check":
      return value === "true" || value === "false" ? undefined : "true or false";
    case "spin": {
      const number = integerOf(value);
      const isInside = number !== undefined && number >= (min ?? number) && number <= (max ?? number);
      return isInside ? undefined : `an integer${boundsText(min, max)}`;
    }
    case "combo": {
      // UCI ignores upper and lower case in values.
      const isChoice = choices.some((choice) => choice.toLowerCase() === value.toLowerCase());
      return isChoice ? undefined : `one of ${choices.join(", ")}`;
    }
    case "button":
      return "left out, because it is a button";
    default:
      return undefined;
  }
}

function boundsText(min: number | undefined, max: number | undefined): string {
  if (min !== undefined && max !== undefined) {
    return ` from ${min} to ${max}`;
  }
  return min === undefined ? (max === undefined ? "" : ` of at most ${max}`) : ` of at least ${min}`;
}

export function withDefaults(declared: readonly UciOption[], values: OptionTexts): readonly UciOption[] {
  return declared.map((option) => ({ ...option, default: values.get(option.name) ?? option.default }));
}

export interface OptionState {
  /** Returns a `setoption` line for each value that changes. Ignores options that the engine does not have. */
  set(values: Iterable<readonly [name: string, value: string]>): readonly string[];
  /** Returns `setoption` lines that restore the defaults, because `ucinewgame` does not reset options. */
  reset(): readonly string[];
}

export function createOptionState(options: readonly UciOption[]): OptionState {
  const defaults = new Map(options.map(({ name, default: value }) => [name, value ?? ""]));
  const changed = new Map<string, string>();
  return {
    set(values) {
      const lines: string[] = [];
      for (const [name, value] of values) {
        const declared = defaults.get(name);
        if (declared !== undefined && value !== (changed.get(name) ?? declared)) {
          lines.push(setLine(name, value));
          changed.set(name, value);
        }
      }
      return lines;
    },
    reset() {
      const lines = [...changed.keys()].map((name) => setLine(name, defaults.get(name) ?? ""));
      changed.clear();
      return lines;
    },
  };
}

function setLine(name: string, value: string): string {
  return `setoption name ${name} value ${value}`;
}
