import type { Fault } from "../../errors/errors.ts";
import { countJson, membersMax, nestingMax } from "../../text/json-scan.ts";
import { isJsonObject, nameOfJson } from "../../text/plain-text.ts";
import { inOneGo } from "../../thread/event-loop.ts";
import { explainJson } from "./explain-json.ts";

/** A JSON object, or what is wrong with its text. */
type JsonObjectReading =
  | { readonly kind: "value"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "faults"; readonly faults: readonly Fault[] };

/** A text that is rejected; {@link explainJsonObject} finds out why. */
interface Unclear {
  readonly kind: "unclear";
  readonly text: string;
}

/**
 * Reads a JSON object more strictly than `JSON.parse`: it also rejects invalid UTF-8, repeated keys, more than 1000 keys, and more than
 * 32 levels. The time is linear in the length of the text. To count a text takes a fraction of the time of `JSON.parse`, and
 * {@link explainJsonObject} takes longer.
 *
 * @param wanted what to send, for the error of a body that is no object
 */
export function readJsonObject(
  body: Uint8Array | string,
  wanted = "a JSON object",
): JsonObjectReading | Unclear {
  const text = typeof body === "string" ? body : textFromBytes(body);
  if (text === undefined) {
    return malformed("The body is not valid UTF-8.");
  }
  const { levels, members } = countJson(text);
  const value = levels > nestingMax || members > membersMax ? undefined : parseCounted(text, members);
  if (value === undefined) {
    return { kind: "unclear", text };
  }
  return isJsonObject(value)
    ? { kind: "value", value }
    : { kind: "faults", faults: [notAnObject(value, wanted)] };
}

/** The text of a body, without a byte order mark; undefined if the body is not UTF-8. */
export function textFromBytes(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

/**
 * The value of a JSON text; undefined if it is no JSON, or if an object repeats a key.
 *
 * @param members of all objects, as counted in the text
 */
export function parseCounted(text: string, members: number): unknown {
  const value = parse(text);
  return value !== undefined && members === countKeys(value) ? value : undefined;
}

/**
 * Says why a text is rejected. Yields between slices, because a long text takes milliseconds.
 *
 * @param wanted what to send, for the error of an empty body
 * @param keysMax the most keys of all objects together
 */
export function* explainJsonObject(
  text: string,
  wanted: string,
  keysMax?: number,
): Generator<void, readonly Fault[]> {
  if (text.trim() === "") {
    return [faultOf(`The body is empty: send ${wanted}.`)];
  }
  const faults = yield* explainJson(text, keysMax);
  return faults.length > 0 ? faults : [faultOf("The body is not JSON.")];
}

/** {@link readJsonObject} and {@link explainJsonObject} in one go. */
export function parseJsonObject(body: Uint8Array | string, wanted = "a JSON object"): JsonObjectReading {
  const reading = readJsonObject(body, wanted);
  return reading.kind === "unclear"
    ? { kind: "faults", faults: inOneGo(explainJsonObject(reading.text, wanted)) }
    : reading;
}

/** Holds nothing between calls. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The fault of a JSON body that is no object. */
export function notAnObject(value: unknown, wanted: string): Fault {
  const message = `The body must be ${wanted}, not ${nameOfJson(value)}.`;
  return { pointer: "", code: "invalid_type", message };
}

function malformed(message: string): JsonObjectReading {
  return { kind: "faults", faults: [faultOf(message)] };
}

function faultOf(message: string): Fault {
  return { pointer: "", code: "malformed_json", message };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The number of keys of all objects in a value: fewer than the members of the text if an object repeats a key. */
function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) {
    return 0;
  }
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) {
      keys += countKeys(item);
    }
  } else {
    const object = value as Record<string, unknown>;
    for (const key in object) {
      keys += 1 + countKeys(object[key]);
    }
  }
  return keys;
}
