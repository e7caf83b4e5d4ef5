import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { requestBounds } from "../analysis/analysis.ts";
import type { DescribedFile, EngineDescription } from "../engine/backends/native/described.ts";
import { wasmBuilds } from "../engine/backends/wasm/builds.ts";
import { errorFromUnknown } from "../errors/errors.ts";
import { readJsonObject } from "../protocols/json/json-text.ts";
import { withoutControls } from "../text/controls.ts";
import { echo, nameOfJson } from "../text/echo.ts";
import { isJsonObject, type Plain } from "../text/json.ts";
import {
  brokenIn,
  errorOfFile,
  type FileViolation,
  integer,
  optionally,
  type Rule,
  type Rules,
  readSettingsFile,
  violationsOfFile,
} from "./json-rules.ts";

const key = "KIBITZ_ENGINES";

/** The maximum size of the file in bytes. */
const fileMaxBytes = 64 * 1024;

/** Throws ConfigError if the file cannot be read, or contains an invalid description. */
export function loadDescribedEngines(file: string): readonly EngineDescription[] {
  const reading = enginesFromJson(readSettingsFile(key, file, fileMaxBytes), dirname(resolve(file)));
  if (reading.kind === "violations") {
    throw errorOfFile(key, file, reading.violations);
  }
  return reading.engines;
}

type EnginesReading =
  | { readonly kind: "engines"; readonly engines: readonly EngineDescription[] }
  | { readonly kind: "violations"; readonly violations: readonly FileViolation[] };

const enginesMax = 32;

/**
 * Reads JSON such as `{"engines": [{"id": "maia-1500", "command": "lc0", "files": ["maia-1500.pb.gz"]}]}`. Relative paths are
 * relative to `folder`.
 */
export function enginesFromJson(text: string, folder: string): EnginesReading {
  let file: Plain;
  try {
    file = readJsonObject(text);
  } catch (thrown) {
    return { kind: "violations", violations: violationsOfFile(errorFromUnknown(thrown)) };
  }
  const violations = brokenIn(file, fileRules, "");
  const described: readonly unknown[] = Array.isArray(file.engines) ? file.engines : [];
  violations.push(...described.flatMap((json, index) => contradictions(json, index, described, folder)));
  return violations.length > 0
    ? { kind: "violations", violations }
    : {
        kind: "engines",
        engines: described.map((json) => descriptionFromJson(json as unknown as EngineJson, folder)),
      };
}

const text = (minChars: number, maxChars: number): Rule => ({
  must: `must be a text of ${minChars} to ${maxChars} characters without control characters`,
  fits: (json) =>
    typeof json === "string" &&
    json.length >= minChars &&
    json.length <= maxChars &&
    withoutControls(json) === json,
});
const path = text(1, 4096);
const list = (itemsMax: number, items: Rule): Rule => ({
  must: `must be a list of at most ${itemsMax} texts`,
  fits: (json) => Array.isArray(json) && json.length <= itemsMax,
  items,
});

const argsMax = 64;
const envMax = 32;
const filesMax = 16;
const filesMaxBytes = 4 * 1024 ** 3;
const optionsMax = 64;

/** An id of an npm build would name two engines. `latest` names no engine. */
const reservedIds: readonly string[] = ["latest", ...wasmBuilds.map(({ id }) => id)];

const engineRules: Rules = {
  id: {
    must: `must be at most 64 lower-case letters, digits, dots and hyphens, must not begin with a dot or a hyphen, and must not be one of ${reservedIds.join(", ")}`,
    fits: (json) =>
      typeof json === "string" && /^[a-z0-9][a-z0-9.-]{0,63}$/.test(json) && !reservedIds.includes(json),
  },
  command: path,
  args: optionally(list(argsMax, text(0, 4096))),
  env: optionally({
    must: `must be an object of at most ${envMax} names of letters, digits and _ that do not begin with a digit`,
    fits: (json) => isObjectOf(json, envMax, /^[A-Za-z_][A-Za-z0-9_]{0,127}$/),
    items: text(0, 4096),
  }),
  files: optionally(list(filesMax, path)),
  options: optionally({
    must: `must be an object of at most ${optionsMax} names of options. Kibitz itself sets MultiPV, UCI_Chess960 and UCI_ShowWDL`,
    // The word `value` ends the name in `setoption`.
    fits: (json) =>
      isObjectOf(json, optionsMax, /^(?!(multipv|uci_chess960|uci_showwdl)$)(?!.*\bvalue\b)[ -~]{1,100}$/i),
    items: {
      must: "must be a number, true, false, or a text of at most 4096 characters without control characters",
      fits: (json) => Number.isFinite(json) || typeof json === "boolean" || text(0, 4096).fits(json),
    },
  }),
  instances: optionally(integer(1, 64)),
  memory_mb: optionally(integer(16, 65_536)),
  start_ms: optionally(integer(100, 600_000)),
  default_limit: optionally({
    must: "must be an object with either `nodes` or `depth`",
    fits: (json) =>
      isJsonObject(json) && (json.depth === undefined || json.nodes === undefined) && !isEmpty(json),
    fields: {
      nodes: optionally(integer(requestBounds.nodes.minimum, requestBounds.nodes.maximum)),
      depth: optionally(integer(requestBounds.depth.minimum, requestBounds.depth.maximum)),
    },
  }),
};

const fileRules: Rules = {
  engines: {
    must: `must be a list of 1 to ${enginesMax} engines`,
    fits: (json) => Array.isArray(json) && json.length >= 1 && json.length <= enginesMax,
    fields: engineRules,
  },
};

function isObjectOf(json: unknown, namesMax: number, name: RegExp): boolean {
  return (
    isJsonObject(json) &&
    Object.keys(json).length <= namesMax &&
    Object.keys(json).every((one) => name.test(one))
  );
}

const isEmpty = (json: Plain) => Object.keys(json).length === 0;

/** Returns the faults that no rule for a single value finds. */
function contradictions(
  json: unknown,
  index: number,
  all: readonly unknown[],
  folder: string,
): readonly FileViolation[] {
  if (!isJsonObject(json)) {
    return [];
  }
  const { id, command, files } = json;
  const place = `/engines/${index}`;
  const isTwice =
    typeof id === "string" && all.slice(0, index).some((other) => isJsonObject(other) && other.id === id);
  const twice = isTwice
    ? [{ pointer: `${place}/id`, message: `The engine ${echo(id, '"')} has been described already.` }]
    : [];
  const paths = Array.isArray(files) ? files.filter((file) => typeof file === "string") : [];
  if (paths.length > filesMax) {
    return twice;
  }
  const names = new Set([typeof command === "string" ? basename(command) : undefined]);
  const alike = paths.flatMap((file, at) => {
    const isKnown = names.has(basename(file));
    names.add(basename(file));
    const message = `Another file of the engine has the name ${nameOfJson(basename(file))} already: rename one of them.`;
    return isKnown ? [{ pointer: `${place}/files/${at}`, message }] : [];
  });
  const bytes = paths.reduce((sum, file) => sum + sizeOf(resolve(folder, file)), 0);
  const message = `The files have ${Math.ceil(bytes / 1024 ** 2)} MiB together, and ${filesMaxBytes / 1024 ** 2} MiB is the maximum.`;
  return [...twice, ...alike, ...(bytes > filesMaxBytes ? [{ pointer: `${place}/files`, message }] : [])];
}

/** A missing file is no fault of the description: the engine is left out later. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

/** JSON that breaks no rule. */
interface EngineJson {
  readonly id: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: EngineDescription["env"];
  readonly files?: readonly string[];
  readonly options?: EngineDescription["options"];
  readonly instances?: number;
  readonly memory_mb?: number;
  readonly start_ms?: number;
  readonly default_limit?: { readonly nodes?: number; readonly depth?: number };
}

function descriptionFromJson(json: EngineJson, folder: string): EngineDescription {
  const { default_limit: limit } = json;
  const fileOf = (written: string): DescribedFile => ({ written, path: resolve(folder, written) });
  return {
    id: json.id,
    command: fileOf(json.command),
    args: json.args ?? [],
    env: json.env ?? {},
    files: (json.files ?? []).map(fileOf),
    options: json.options ?? {},
    instances: json.instances,
    memoryMb: json.memory_mb,
    startMs: json.start_ms,
    defaultLimit: limit && { depth: limit.depth, nodes: limit.nodes },
  };
}
