/** Makes text of callers safe to show: without API keys, and without control characters. */

/** API keys, also cut or mistyped ones. See `access/keys.ts`. */
const keys = /kbz_[0-9A-Za-z]{12,}/g;

/** Removes API keys: callers put them into any field and header. */
export function withoutKeys(text: string): string {
  return text.includes("kbz_") ? text.replace(keys, "kbz_…") : text;
}

export function holdsKey(text: string): boolean {
  return withoutKeys(text) !== text;
}

/**
 * C0, DEL and C1 (U+009B alone begins an escape sequence), separators that some viewers treat as line ends, and characters that
 * change the direction of text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const controls = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The text with its control characters escaped. */
export function withoutControls(text: string): string {
  return text.replace(controls, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A message repeats no more of a caller's text. */
const maxQuotedCharacters = 64;

/** A caller's text for a message: at most 64 characters, without API keys and control characters. */
export function echo(text: string): string {
  const plain = withoutKeys(text);
  const short = plain.length > maxQuotedCharacters ? `${plain.slice(0, maxQuotedCharacters - 1)}…` : plain;
  return withoutControls(JSON.stringify(short).slice(1, -1));
}

/** A JSON object. */
export type Plain = Readonly<Record<string, unknown>>;

/** True if a JSON value is an object: neither an array nor null. */
export function isJsonObject(json: unknown): json is Plain {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Names an unexpected JSON value in a message: `"deep"`, `an array`. */
export function nameOfJson(json: unknown): string {
  if (typeof json === "string") {
    return `"${echo(json)}"`;
  }
  if (Array.isArray(json)) {
    return "an array";
  }
  if (typeof json === "number" && Math.abs(json) > Number.MAX_SAFE_INTEGER) {
    // JSON.parse has rounded the number, perhaps to infinity: its digits would differ from the caller's.
    return json > 0 ? "a number that large" : "a number that far below zero";
  }
  return typeof json === "object" && json !== null ? "an object" : String(json);
}

/** A caller's text in quotes for a message: at most 64 characters, with "?" for everything but printable ASCII. */
export function quote(text: string): string {
  return `'${text.slice(0, maxQuotedCharacters).replace(/[^ -~]/g, "?")}'`;
}

/** Seconds for people, rounded up: `45 s`, `12 min`, `23 h 56 min`. */
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
 * A text as the value of the header `grpc-message`: only `%` and characters outside of printable ASCII are escaped.
 *
 * Connect escapes as for a URI component, so that clients that read with decodeURI, such as grpc-js, show `%3A` for a
 * colon, and Connect throws if the text has half a surrogate pair.
 */
export function grpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^ -$&-~]+/gu, encodeURIComponent);
}
