import type { Fault } from "../../../errors/errors.ts";
import { countJson, membersMax, nestingMax } from "../../../text/json-scan.ts";
import { nameOfJson } from "../../../text/plain-text.ts";
import { inOneGo } from "../../../thread/event-loop.ts";
import { explainJson } from "./explain-json.ts";

/** A JSON object as its caller meant it, or why there is none. */
export type JsonObjectReading =
  | { readonly kind: "value"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "faults"; readonly faults: readonly Fault[] };

/** A text that is not acceptable, for {@link explainJsonObject} to say why. */
interface Unclear {
  readonly kind: "unclear";
  readonly text: string;
}

/**
 * Reads a JSON object more strictly than `JSON.parse`: not UTF-8, a key that stands twice in its object,
 * more than 1000 keys or more than 32 levels are faults. Takes time linear in the text, whatever it holds.
 *
 * The usual text is only counted, in a fraction of the time of `JSON.parse`; where the count shows that
 * something is wrong, {@link explainJsonObject} finds out what, which takes longer.
 *
 * @param wanted what to send, for the fault of a body that is no object
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

/** The text of a body; `undefined` where that is not UTF-8. Drops a byte order mark, which some editors and shells write. */
export function textFromBytes(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

/**
 * The value of a JSON text; `undefined`, which JSON has no word for, if it is no JSON or if a key appears twice in its object.
 *
 * @param members of all objects, as counted in the text
 */
export function parseCounted(text: string, members: number): unknown {
  const value = parse(text);
  return value !== undefined && members === countKeys(value) ? value : undefined;
}

/**
 * Why a text is not acceptable. Yields now and again, because it takes milliseconds for the longest.
 *
 * @param wanted what to send, for the fault of an empty body
 * @param keysMax how many keys its objects may have together
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

/** The fault of a body that is JSON, but no object. */
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

/** How many keys the objects in a value have together: fewer than members if one stood twice. */
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

/** Whether a JSON value is an object: neither an array nor null. */
export function isJsonObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
