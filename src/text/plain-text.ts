/** Also matches an API key that is incomplete or contains a typing error. */
const keys = /kbz_[0-9A-Za-z]{12,}/g;

/** Removes API keys, because clients may put an API key into any field or header. */
export function withoutKeys(text: string): string {
  return text.includes("kbz_") ? text.replace(keys, "kbz_…") : text;
}

export function holdsKey(text: string): boolean {
  return withoutKeys(text) !== text;
}

/** Control characters, line separators, and characters that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const controls = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function withoutControls(text: string): string {
  return text.replace(controls, escaped);
}

/** Characters without a shape, such as a soft hyphen. They are part of some languages, so only error messages escape them. */
const invisible = /[\u2800\p{Default_Ignorable_Code_Point}]/gu;

/** Writes each UTF-16 unit as an escape of JSON. */
function escaped(character: string): string {
  const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}

/** Like {@link withoutControls}, but keeps the line breaks. */
export function withoutControlsInLines(text: string): string {
  return text.split("\n").map(withoutControls).join("\n");
}

const maxQuotedCharacters = 64;

/** Prepares a client's text for a message: at most 64 characters, without API keys, control characters and invisible characters. */
export function echo(text: string): string {
  const plain = withoutKeys(text);
  const short = plain.length > maxQuotedCharacters ? `${plain.slice(0, maxQuotedCharacters - 1)}…` : plain;
  return withoutControls(JSON.stringify(short).slice(1, -1)).replace(invisible, escaped);
}

export type Plain = Readonly<Record<string, unknown>>;

export function isJsonObject(json: unknown): json is Plain {
  return typeof json === "object" && json !== null && !Array.isArray(json);
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

/** Quotes at most 64 characters of a client's text. Replaces every character that is not printable ASCII with `?`. */
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

/** Escapes the header `grpc-message`. Connect's own function also escapes `:`, and throws at half of a surrogate pair. */
export function grpcMessage(text: string): string {
  return text.toWellFormed().replace(/[^ -$&-~]+/gu, encodeURIComponent);
}
