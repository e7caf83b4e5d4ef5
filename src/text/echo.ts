import { escaped, withoutControls } from "./controls.ts";
import { withoutKeys } from "./keys-in-text.ts";

/** Characters without a shape, such as a soft hyphen. They are part of some languages, so only error messages escape them. */
const invisible = /[\u2800\p{Default_Ignorable_Code_Point}]/gu;

const maxQuotedCharacters = 64;

/** Prepares a client's text for a message: at most 64 characters, without API keys, control characters and invisible characters. */
export function echo(text: string): string {
  const plain = withoutKeys(text);
  const short = plain.length > maxQuotedCharacters ? `${plain.slice(0, maxQuotedCharacters - 1)}…` : plain;
  return withoutControls(JSON.stringify(short).slice(1, -1)).replace(invisible, escaped);
}

/** Quotes at most 64 characters of a client's text. Replaces every character that is not printable ASCII with `?`. */
export function quote(text: string): string {
  return `'${text.slice(0, maxQuotedCharacters).replace(/[^ -~]/g, "?")}'`;
}

/** Describes an unexpected JSON value for an error message: `"deep"`, `an array`. */
export function nameOfJson(json: unknown): string {
  if (typeof json === "string") {
    return `"${echo(json)}"`;
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
