/** Functions that make a client's text safe to show: they remove API keys and control characters. */

/** A pattern for API keys. It also matches keys that are cut or mistyped. See `access/keys.ts`. */
const keys = /kbz_[0-9A-Za-z]{12,}/g;

/** Removes API keys from a text. Clients put their keys into any field and header. */
export function withoutKeys(text: string): string {
  return text.includes("kbz_") ? text.replace(keys, "kbz_…") : text;
}

export function holdsKey(text: string): boolean {
  return withoutKeys(text) !== text;
}

/**
 * Control characters: C0, DEL and C1 (U+009B alone begins an escape sequence), separators that some viewers treat as line ends,
 * and characters that change the direction of text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const controls = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Returns a text with its control characters escaped. */
export function withoutControls(text: string): string {
  return text.replace(controls, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The maximum number of characters of a client's text that a message repeats. */
const maxQuotedCharacters = 64;

/** Returns a client's text for a message: at most 64 characters, without API keys and control characters. */
export function echo(text: string): string {
  const plain = withoutKeys(text);
  const short = plain.length > maxQuotedCharacters ? `${plain.slice(0, maxQuotedCharacters - 1)}…` : plain;
  return withoutControls(JSON.stringify(short).slice(1, -1));
}

export type Plain = Readonly<Record<string, unknown>>;

/** True if a JSON value is an object: neither an array nor null. */
export function isJsonObject(json: unknown): json is Plain {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Describes an unexpected JSON value for a message: `"deep"`, `an array`. */
export function nameOfJson(json: unknown): string {
  if (typeof json === "string") {
    return `"${echo(json)}"`;
  }
  if (Array.isArray(json)) {
    return "an array";
  }
  if (typeof json === "number" && Math.abs(json) > Number.MAX_SAFE_INTEGER) {
    // JSON.parse has rounded the number, perhaps to infinity, so its digits would differ from those that the client sent.
    return json > 0 ? "a number that large" : "a number that far below zero";
  }
  return typeof json === "object" && json !== null ? "an object" : String(json);
}

/**
 * Returns a client's text in quotes for a message: at most 64 characters, with "?" in place of everything except printable ASCII.
 */
export function quote(text: string): string {
  return `'${text.slice(0, maxQuotedCharacters).replace(/[^ -~]/g, "?")}'`;
}

/** Returns a duration for people, rounded up: `45 s`, `12 min`, `23 h 56 min`. */
export function durationText(seconds: number): string {
  if (seconds <= 120) {
    return `${Math.ceil(seconds)} s`;
  }
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) {
    return `${minutes} min`;
  }
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? "" : ` ${rest} min`}`;
}

/**
 * Returns a text as the value of the `grpc-message` header: only `%` and characters outside of printable ASCII are escaped.
 *
 * Connect escapes the text as a URI component. Clients that read the header with decodeURI, such as grpc-js, would then show
 * `%3A` for a colon, and Connect throws if the text has half a surrogate pair.
 */
export function grpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^ -$&-~]+/gu, encodeURIComponent);
}
