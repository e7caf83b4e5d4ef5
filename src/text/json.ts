/** A JSON object. */
export type Plain = Readonly<Record<string, unknown>>;

export function isJsonObject(json: unknown): json is Plain {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

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
