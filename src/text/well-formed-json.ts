import { costOfBytes, errorFromViolations, withCost } from "../errors/errors.ts";

/** Backslashes in pairs, which escape each other, and then an escaped surrogate pair or an escaped half of a pair. */
const escapes =
  /(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2})/g;

const halfLength = "\\ud800".length;

/**
 * Replaces every half of a surrogate pair in a JSON text by U+FFFD. JSON can write such a half as `"\ud800"`, but UTF-8 and
 * protobuf strings cannot contain it. The length of the text does not change. The text need not be valid JSON.
 */
export function wellFormedJson(text: string): string {
  const whole = text.toWellFormed();
  if (!/\\u[dD][89a-fA-F]/.test(whole)) {
    return whole;
  }
  return whole.replace(escapes, (found, backslashes: string, escaped: string) =>
    escaped.length === halfLength ? `${backslashes}\\ufffd` : found,
  );
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns a JSON text without its byte order mark and without halves of surrogate pairs. Throws a KibitzError if the bytes are
 * not UTF-8. Does not parse the text.
 */
export function jsonFromBytes(bytes: Uint8Array): string {
  try {
    return wellFormedJson(utf8.decode(bytes));
  } catch {
    const violation = {
      pointer: "",
      code: "malformed_json",
      message: "The body is not valid UTF-8.",
    } as const;
    throw withCost(errorFromViolations([violation]), costOfBytes(bytes.length));
  }
}
