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

/** These numbers predict how long the parser will need. */
export interface JsonCount {
  readonly levels: number;
  /** The number of commas, colons and opening brackets. */
  readonly parts: number;
  readonly members: number;
  /** The number of array elements in the fields of the outermost object. */
  readonly items: number;
  /** The number of characters in the longest array element. */
  readonly itemLength: number;
  /** The largest number of object members in one array element. */
  readonly itemMembers: number;
}

/** Reads the text once. The text need not be valid JSON. */
export function countJson(text: string): JsonCount {
  let [levels, parts, members, items, itemLength, itemMembers] = [0, 0, 0, 0, 0, 0];
  let depth = 0;
  let isInList = false;
  /** `itemAt` is the index at which the current array element starts. */
  let [itemAt, membersBefore] = [0, 0];

  function endItem(end: number): void {
    items++;
    itemLength = Math.max(itemLength, end - itemAt);
    itemMembers = Math.max(itemMembers, members - membersBefore);
    beginItem(end + 1);
  }

  function beginItem(start: number): void {
    itemAt = start;
    membersBefore = members;
  }

  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i);
        break;
      case 0x3a: // :
        parts++;
        members++;
        break;
      case 0x2c: // ,
        parts++;
        if (depth === 2 && isInList) {
          endItem(i);
        }
        break;
      case 0x5b: // [
      case 0x7b: // {
        parts++;
        levels = Math.max(levels, ++depth);
        if (depth === 2) {
          isInList = text[i] === "[";
          beginItem(i + 1);
        }
        break;
      case 0x5d: // ]
      case 0x7d: // }
        if (depth === 2 && isInList && text.slice(itemAt, i).trim() !== "") {
          endItem(i);
        }
        depth--;
    }
  }
  return { levels, parts, members, items, itemLength, itemMembers };
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end)) {
      return end;
    }
  }
  return text.length;
}

function isEscaped(text: string, quote: number): boolean {
  let escapes = quote;
  while (text.charCodeAt(escapes - 1) === 0x5c) {
    escapes--;
  }
  return (quote - escapes) % 2 === 1;
}
