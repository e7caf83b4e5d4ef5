import type { ApiOption } from "../engine-option.ts";

export interface Options {
  declare(): readonly string[];
  /** Ignores the case of the name. Returns a message if the option or the value is invalid, or if the option has no effect. */
  set(name: string, text: string | undefined): string | undefined;
  readonly multipv: number;
  /** Undefined until the option is set: the position then decides. */
  readonly chess960: boolean | undefined;
  readonly showWdl: boolean;
  readonly overheadMs: number;
  /** Returns the options that differ from their defaults, by their names in the JSON API. */
  forEngine(): Readonly<Record<string, number | boolean>>;
}

const spin = (engineName: string, usual: number, minimum: number, maximum: number): ApiOption => ({
  name: engineName,
  engineName,
  kind: "integer",
  default: usual,
  minimum,
  maximum,
});
const check = (engineName: string): ApiOption => ({
  name: engineName,
  engineName,
  kind: "boolean",
  default: false,
});

/** Some chess programs reject an engine without these options. */
const withoutEffect: Readonly<Record<string, string>> = {
  Hash: "Hash has no effect here: KIBITZ_HASH_MB sets the hash of every engine",
  Threads: "Threads has no effect here: KIBITZ_THREADS sets the threads of every engine",
};

export function createOptions(
  ofEngine: readonly ApiOption[],
  multipvMax: number,
  overheadMs: number,
): Options {
  const options = [
    // Ponder only announces that the chess program may send `go ponder`.
    spin("Hash", 16, 1, 33_554_432),
    spin("Threads", 1, 1, 1024),
    check("Ponder"),
    spin("MultiPV", 1, 1, multipvMax),
    spin("Move Overhead", overheadMs, 0, 5000),
    check("UCI_ShowWDL"),
    ...ofEngine,
  ];
  const values = new Map(options.map((option) => [option.name, option.default]));
  let chess960: boolean | undefined;
  return {
    declare: () => options.map(declarationOf),
    set(name, text = "nothing") {
      const option = options.find(({ engineName }) => engineName.toLowerCase() === name.toLowerCase());
      if (option === undefined) {
        return `there is no option ${name}`;
      }
      const value = readValue(option, text);
      if (value === undefined) {
        return `${option.engineName} cannot be ${text}: it stays ${values.get(option.name)}`;
      }
      values.set(option.name, value);
      if (option.name === "uci_chess960") {
        chess960 = value === true;
      }
      return withoutEffect[option.name];
    },
    get multipv() {
      return Number(values.get("MultiPV"));
    },
    get chess960() {
      return chess960;
    },
    get showWdl() {
      return values.get("UCI_ShowWDL") === true;
    },
    get overheadMs() {
      return Number(values.get("Move Overhead"));
    },
    forEngine() {
      // Omit one of the two strength options: chess programs set both, but the service rejects both in one request.
      const idle = values.get("uci_limit_strength") === true ? "skill_level" : "uci_elo";
      return Object.fromEntries(
        ofEngine.flatMap(({ name, default: usual }) => {
          const value = values.get(name) ?? usual;
          return value === usual || name === idle ? [] : [[name, value]];
        }),
      );
    },
  };
}

function declarationOf(option: ApiOption): string {
  const { engineName, default: usual } = option;
  return option.kind === "boolean"
    ? `option name ${engineName} type check default ${usual}`
    : `option name ${engineName} type spin default ${usual} min ${option.minimum} max ${option.maximum}`;
}

function readValue(option: ApiOption, text: string): number | boolean | undefined {
  if (option.kind === "boolean") {
    return text === "true" || (text === "false" ? false : undefined);
  }
  const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= option.minimum && value <= option.maximum ? value : undefined;
}
