import type { EngineOption, OptionValues, SearchJob } from "../engine.ts";

/** An `option` line of the greeting. */
export interface UciOption {
  readonly name: string;
  readonly type: string;
  readonly default: string | undefined;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/**
 * The engine options that callers may set, by the engine's own name. Everything else stays with the
 * operator or the service: strings and paths can read and write files (`Debug Log File`, `EvalFile`,
 * `SyzygyPath`), `nodestime` changes the meaning of time, `Hash` and `Threads` are fixed at the start.
 */
const callersOptions: ReadonlyMap<string, { readonly name: string; readonly type: "spin" | "check" }> =
  new Map([
    ["Skill Level", { name: "skill_level", type: "spin" }],
    ["UCI_LimitStrength", { name: "uci_limit_strength", type: "check" }],
    ["UCI_Elo", { name: "uci_elo", type: "spin" }],
    ["UCI_Chess960", { name: "uci_chess960", type: "check" }],
  ]);

/** A whole number as engines write it; undefined for anything else. */
export function integerOf(word: string | undefined): number | undefined {
  // Of -0 the sum with 0 is 0.
  return word !== undefined && /^-?\d{1,15}$/.test(word) ? Number(word) + 0 : undefined;
}

/** One that fits into 32 bits, as answers have room for; undefined also for what does not. */
export function int32Of(word: string | undefined): number | undefined {
  const value = integerOf(word);
  return value === undefined || Math.abs(value) >= 2 ** 31 ? undefined : value;
}

/** `option name Skill Level type spin default 20 min 0 max 20`: names have spaces, and so may defaults. */
export function parseOption(words: readonly string[]): UciOption | undefined {
  const parts = new Map<string, string[]>();
  let part: string[] | undefined;
  for (const word of words.slice(1)) {
    if (["name", "type", "default", "min", "max", "var"].includes(word) && !parts.has(word)) {
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
  return { name, type, default: text("default"), min: integerOf(text("min")), max: integerOf(text("max")) };
}

/** The options that callers may set, out of those that the engine declares, in the order above. */
export function callersOptionsFrom(declared: readonly UciOption[]): readonly EngineOption[] {
  return [...callersOptions].flatMap(([engineName, { name, type }]) => {
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

/** Values by JSON name, as UCI values by the engine's name. */
export function uciValuesFrom(options: readonly EngineOption[], values: OptionValues): Map<string, string> {
  const wanted = new Map<string, string>();
  for (const { name, engineName } of options) {
    const value = values[name];
    if (value !== undefined) {
      wanted.set(engineName, String(value));
    }
  }
  return wanted;
}

/** What a search wants of the engine's options, as UCI values by the engine's name. */
export function valuesOfSearch(
  known: readonly EngineOption[],
  { position, multipv, options }: SearchJob,
): Map<string, string> {
  return uciValuesFrom(known, options)
    .set("UCI_Chess960", String(position.chess960))
    .set("MultiPV", String(multipv));
}

/** The options of an engine by their UCI names, and which of them it was given another value than its default. */
export interface OptionState {
  /** Lines that set what is wanted and not so yet. What the engine has no option for is left out. */
  set(wanted: Iterable<readonly [name: string, value: string]>): readonly string[];
  /** Lines that set back what `set` has changed: options survive `ucinewgame`, so they are set back one by one. */
  reset(): readonly string[];
}

export function createOptionState(options: readonly UciOption[]): OptionState {
  const defaults = new Map(options.map(({ name, default: value }) => [name, value ?? ""]));
  const changed = new Map<string, string>();
  return {
    set(wanted) {
      const lines: string[] = [];
      for (const [name, value] of wanted) {
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
