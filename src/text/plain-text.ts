/** Functions that make a client's text safe to show: they remove API keys and control characters. */

/** A pattern for API keys, even if they are cut or mistyped. See `access/keys.ts`. */
const keys = /kbz_[0-9A-Za-z]{12,}/g;

/** Removes API keys, because clients put them into any field and header. */
export function withoutKeys(text: string): string {
  return text.includes("kbz_") ? text.replace(keys, "kbz_…") : text;
}

export function holdsKey(text: string): boolean {
  return withoutKeys(text) !== text;
}

/** C0, DEL and C1 controls (U+009B alone begins an escape sequence), line ends of some viewers, and changes of direction. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const controls = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function withoutControls(text: string): string {
  return text.replace(controls, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const maxQuotedCharacters = 64;

/** Returns a client's text for a message: at most 64 characters, without API keys and control characters. */
export function echo(text: string): string {
  const plain = withoutKeys(text);
  const short = plain.length > maxQuotedCharacters ? `${plain.slice(0, maxQuotedCharacters - 1)}…` : plain;
  return withoutControls(JSON.stringify(short).slice(1, -1));
}

export type Plain = Readonly<Record<string, unknown>>;

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
    // JSON.parse has rounded the number, so its digits would differ from those that the client sent.
    return json > 0 ? "a number that large" : "a number that far below zero";
  }
  return typeof json === "object" && json !== null ? "an object" : String(json);
}

/** Quotes a client's text for a message: at most 64 characters, with "?" for all but printable ASCII. */
export function quote(text: string): string {
  return `'${text.slice(0, maxQuotedCharacters).replace(/[^ -~]/g, "?")}'`;
}

/** Rounds a duration up: `45 s`, `12 min`, `23 h 56 min`. */
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
 * Escapes only `%` and non-printable characters for `grpc-message`. Connect escapes a URI component, which shows as `%3A` in
 * clients that use decodeURI, such as grpc-js, and throws at half a surrogate pair.
 */
export function grpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^ -$&-~]+/gu, encodeURIComponent);
}
