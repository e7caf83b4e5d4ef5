import type { EngineOption } from "../engine-option.ts";

/** Values by JSON name. */
type OptionValues = Readonly<Record<string, number | boolean>>;

/** The options of a session, with the values that the chess program has set. */
export interface Options {
  /** The `option` lines of the greeting. */
  declare(): readonly string[];
  /** Sets an option by its name in any case. Returns notes for the user, mostly none. */
  set(name: string, value: string | undefined): readonly string[];
  readonly values: FrontValues;
  /** The options of the engine that differ from its defaults. */
  forEngine(): OptionValues;
}

/** The values of options that the session follows itself. */
interface FrontValues {
  readonly multipv: number;
  readonly chess960: boolean;
  readonly showWdl: boolean;
  /** Milliseconds. */
  readonly overheadMs: number;
}

interface OptionsSetting {
  /** Of the engine. */
  readonly declared: readonly EngineOption[];
  readonly multipvMax: number;
  /** Milliseconds: the default of `Move Overhead`. */
  readonly overheadMs: number;
}

type Option =
  | { readonly name: string; readonly type: "button" }
  | { readonly name: string; readonly type: "check"; value: boolean }
  | {
      readonly name: string;
      readonly type: "spin";
      value: number;
      readonly min: number;
      readonly max: number;
      /** The note on every other value than the default, which has no effect. */
      readonly says?: string;
    };

/** The longest that `Move Overhead` may be, as in Stockfish. */
const overheadMaxMs = 5000;

export function createOptions({ declared, multipvMax, overheadMs }: OptionsSetting): Options {
  const multipv = { name: "MultiPV", type: "spin" as const, value: 1, min: 1, max: multipvMax };
  const overhead = {
    name: "Move Overhead",
    type: "spin" as const,
    value: overheadMs,
    min: 0,
    max: overheadMaxMs,
  };
  const showWdl = { name: "UCI_ShowWDL", type: "check" as const, value: false };
  const ofEngine = declared.map((option) => ({ declared: option, option: optionOf(option) }));
  const options: readonly Option[] = [
    // Chess programs set these unconditionally, and some refuse an engine that does not declare them.
    {
      name: "Hash",
      type: "spin",
      value: 16,
      min: 1,
      max: 33_554_432,
      says: "Hash has no effect: Kibitz gives each search the hash table that it needs, and keeps none between moves",
    },
    {
      name: "Threads",
      type: "spin",
      value: 1,
      min: 1,
      max: 1024,
      says: "Threads has no effect: how many threads a search has is a setting of Kibitz, KIBITZ_THREADS",
    },
    { name: "Clear Hash", type: "button" },
    { name: "Ponder", type: "check", value: false },
    multipv,
    overhead,
    showWdl,
    ...ofEngine.map(({ option }) => option),
  ];
  const chess960 = ofEngine.find(({ declared }) => declared.name === "uci_chess960")?.option;

  return {
    declare: () => options.map(declarationOf),
    set(name, text) {
      const option = options.find((one) => one.name.toLowerCase() === name.toLowerCase());
      return option === undefined ? [`there is no option ${name}`] : setOption(option, text);
    },
    get values() {
      return {
        multipv: multipv.value,
        chess960: chess960?.type === "check" && chess960.value,
        showWdl: showWdl.value,
        overheadMs: overhead.value,
      };
    },
    forEngine() {
      const values = Object.fromEntries(
        ofEngine.map(({ declared, option }) => [declared.name, option.value]),
      );
      return withoutIdle(values, declared);
    },
  };
}

/** Leaves out options without effect: the service refuses two that set the strength in two ways, and one that needs another. */
function withoutIdle(values: OptionValues, declared: readonly EngineOption[]): OptionValues {
  const limited = values.uci_limit_strength === true;
  const isIdle = ({ name, default: usual }: EngineOption) =>
    name === "uci_elo" ? !limited : values[name] === usual || (limited && name === "skill_level");
  return Object.fromEntries(
    declared
      .filter((option) => !isIdle(option))
      .flatMap(({ name }) => {
        const value = values[name];
        return value === undefined ? [] : [[name, value]];
      }),
  );
}

function optionOf(option: EngineOption): Exclude<Option, { readonly type: "button" }> {
  const { engineName: name } = option;
  return option.kind === "boolean"
    ? { name, type: "check", value: option.default }
    : { name, type: "spin", value: option.default, min: option.minimum, max: option.maximum };
}

function declarationOf(option: Option): string {
  const line = `option name ${option.name} type ${option.type}`;
  switch (option.type) {
    case "button":
      return line;
    case "check":
      return `${line} default ${option.value}`;
    case "spin":
      return `${line} default ${option.value} min ${option.min} max ${option.max}`;
  }
}

function setOption(option: Option, text: string | undefined): readonly string[] {
  const { name } = option;
  switch (option.type) {
    case "button":
      return [];
    case "check":
      if (text !== "true" && text !== "false") {
        return [`${name} is true or false, not ${text ?? "nothing"}: it stays ${option.value}`];
      }
      option.value = text === "true";
      return [];
    case "spin": {
      const { min, max, says } = option;
      if (text === undefined || !/^[+-]?\d+$/.test(text)) {
        return [`${name} is a whole number, not ${text ?? "nothing"}: it stays ${option.value}`];
      }
      const asked = Number(text);
      const isOther = asked !== option.value;
      option.value = Math.min(Math.max(asked, min), max);
      return [
        ...(option.value === asked ? [] : [outside(name, asked, min, max, option.value)]),
        ...(says !== undefined && isOther ? [says] : []),
      ];
    }
  }
}

/** The note on a value that was moved to the nearest allowed one. */
export function outside(name: string, asked: number, min: number, max: number, nearest: number): string {
  return `${name} ${asked} is outside ${min} to ${max}: taken as ${nearest}`;
}
