import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Fault, Problem } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import type { Failure } from "../client/problem.ts";
import { texts } from "../texts.ts";

const words = texts.problem;

/** A failure in words for people. */
export interface Told {
  readonly title: string;
  readonly detail: string;
  /** Advice, if no button offers the way out. */
  readonly advice: string | undefined;
}

export function tellFailure(failure: Exclude<Failure, { kind: "aborted" }>): Told {
  switch (failure.kind) {
    case "problem": {
      const { title, detail, nextAction } = failure.problem;
      const advice = needsKeyOfOperator(failure.problem) ? words.keyOfOperator : words.advice[nextAction];
      return { title, detail, advice };
    }
    case "foreign":
      return { ...words.foreign, detail: words.foreign.detail(failure.said), advice: undefined };
    default:
      return { ...words[failure.kind], advice: undefined };
  }
}

/** True if a key is needed and only the operator issues keys. */
export function needsKeyOfOperator({ code, nextAction }: Problem): boolean {
  return code === "api_key_required" && nextAction !== "get_api_key";
}

/** Returns the place of a violation: `moves[3]`, or the line and column of a text. */
export function placeOfFault({ pointer, line, column }: Fault): string {
  const path = keysOf(pointer).reduce(
    (text, key) => (/^\d+$/.test(key) ? `${text}[${key}]` : text ? `${text}.${key}` : key),
    "",
  );
  return line === undefined || column === undefined ? path : words.placeInText(path, line, column);
}

/** Lists the changes of the suggested request: `depth 20, lines 5`; empty if the list would be long. */
export function changesOf({ errors, suggestedRequest }: Problem): string {
  const names = new Set(errors.map(({ pointer }) => keysOf(pointer)[0] ?? ""));
  return [...names]
    .flatMap((name) => {
      const value = memberOf(suggestedRequest ?? {}, name);
      if (value === undefined) {
        return [];
      }
      // A whole game cannot be read on a button; what is suggested of one is as much as may be asked.
      return [name === "pgn" ? words.partOfGame : words.change(name, briefly(value))];
    })
    .join(", ");
}

/** The address of the page that explains a kind of problem, beside this page; undefined if it is none of this service. */
export function pageOf({ type }: Problem): string | undefined {
  return /^\/problems\/[\w-]+$/.test(type) ? type.slice(1) : undefined;
}

/** Milliseconds as people wait them, never less than there are: `45 s`, `3 min 20 s`, `5 h 2 min`. */
export function duration(ms: number): string {
  const all = Math.ceil(ms / 1000);
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return hours > 0
    ? `${hours} h ${minutes} min`
    : minutes > 0
      ? `${minutes} min ${seconds} s`
      : `${seconds} s`;
}

/** The keys that a JSON Pointer passes. */
function keysOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function briefly(value: JsonValue): string {
  if (Array.isArray(value)) {
    return words.items(value.length);
  }
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 90 ? `${text.slice(0, 89).toWellFormed()}…` : text;
}
