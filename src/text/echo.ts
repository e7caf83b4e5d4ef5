import { escaped, withoutControls } from "./controls.ts";
import { withoutKeys } from "./keys-in-text.ts";

/** Characters without a shape, such as a soft hyphen. They are part of some languages, so only error messages escape them. */
const invisible = /[\u2800\p{Default_Ignorable_Code_Point}]/gu;

const maxQuotedCharacters = 64;

/**
 * Prepares a client's text for a message: at most 64 characters, without API keys, control characters and invisible characters.
 * The end of a longer text is replaced by `…`, behind the quotation marks, because inside them it would be a part of the text.
 */
export function echo(text: string, quotes?: '"' | "'" | "`"): string {
  const plain = withoutKeys(text);
  const isLong = plain.length > maxQuotedCharacters;
  const most = quotes ? maxQuotedCharacters : maxQuotedCharacters - 1;
  // Do not leave half of a surrogate pair.
  const short = isLong ? plain.slice(0, most).replace(/[\ud800-\udbff]$/, "") : plain;
  const shown = withoutControls(JSON.stringify(short).slice(1, -1)).replace(invisible, escaped);
  return `${quotes ?? ""}${shown}${quotes ?? ""}${isLong ? "…" : ""}`;
}

/** Quotes at most 64 characters of a client's text. Replaces every character that is not printable ASCII with `?`. */
export function quote(text: string): string {
  const isLong = text.length > maxQuotedCharacters;
  return `'${text.slice(0, maxQuotedCharacters).replace(/[^ -~]/g, "?")}'${isLong ? "…" : ""}`;
}

/** Describes an unexpected JSON value for an error message: `"deep"`, `an array`. */
export function nameOfJson(json: unknown): string {
  if (typeof json === "string") {
    return echo(json, '"');
  }
  if (Array.isArray(json)) {
    return "an array";
  }
  if (typeof json === "number" && Math.abs(json) > Number.MAX_SAFE_INTEGER) {
    // Omit the digits, because JSON.parse has rounded the number.
    return json > 0 ? "a number that large" : "a number that far below zero";
  }
  return typeof json === "object" && json !== null ? "an object" : String(json);
}
