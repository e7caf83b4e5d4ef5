/** What a caller wrote, made fit to be shown: no credential in it, and nothing that a terminal obeys. */

/** Keys, also those that were cut or mistyped. See `access/api-key.ts`. */
const keys = /kbz_[0-9A-Za-z]{12,}/g;

/** The text without the API keys in it: callers put them into every field and header there is. */
export function withoutKeys(text: string): string {
  return text.includes("kbz_") ? text.replace(keys, "kbz_…") : text;
}

export function holdsKey(text: string): boolean {
  return withoutKeys(text) !== text;
}

/**
 * C0, DEL and C1 (U+009B alone begins an escape sequence), the separators that some viewers take for the end of a
 * line, and what turns the direction of writing.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const controls = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text with its control characters escaped. */
export function withoutControls(text: string): string {
  return text.replace(controls, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A caller's text for a message: at most 64 characters, without keys and without what a terminal obeys. */
export function echo(text: string): string {
  const plain = withoutKeys(text);
  const short = plain.length > 64 ? `${plain.slice(0, 63)}…` : plain;
  return withoutControls(JSON.stringify(short).slice(1, -1));
}
