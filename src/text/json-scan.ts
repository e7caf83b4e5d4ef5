/** How many arrays and objects may lie inside each other. */
export const nestingMax = 32;

/**
 * How many members the objects of one request may have together. The longest that means something has a few dozen, and
 * to decode the 7000 that fit into 64 KiB takes Connect six milliseconds.
 */
export const membersMax = 1000;

/**
 * How many members the objects of a JSON text have together: its colons. `undefined` if it nests too deeply.
 *
 * @param levelsMax how many arrays and objects may lie inside each other
 */
export function countMembers(text: string, levelsMax: number): number | undefined {
  let members = 0;
  let nesting = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        i = endOfString(text, i);
        break;
      case 0x3a: // :
        members++;
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++nesting > levelsMax) {
          return undefined;
        }
        break;
      case 0x5d: // ]
      case 0x7d: // }
        nesting--;
    }
  }
  return members;
}

/** Where the string that begins at `start` ends. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    if (!isEscaped(text, end)) {
      return end;
    }
  }
  return text.length;
}

/** Whether a quote in a string is one of its characters: after an odd number of backslashes. */
export function isEscaped(text: string, quote: number): boolean {
  let escapes = quote;
  while (text.charCodeAt(escapes - 1) === 0x5c) {
    escapes--;
  }
  return (quote - escapes) % 2 === 1;
}

/** A JSON object, taken apart at one of its lists. */
export interface SplitObject {
  /** The object with that list empty; all of it where there is no such list. */
  readonly frame: string;
  /** The texts of the first items, as many as there may be. */
  readonly items: readonly string[];
  /** How many items the list has; undefined where there is no such list. */
  readonly count: number | undefined;
}

/** Steps of the walk in one piece: about a fifth of a millisecond. */
const stepsAtOnce = 20_000;

/**
 * Takes the text of a JSON object apart at the list that is the value of `name`, by brackets, commas and quotes alone, so
 * that a text of a megabyte is parsed item by item and not in one go. Whether all of it is JSON is for whoever parses
 * the parts to find out: what is not JSON yields parts of which one is none, too.
 *
 * @returns undefined where the brackets lie too deep inside each other
 */
export function* splitList(
  text: string,
  name: string,
  itemsMax: number,
): Generator<void, SplitObject | undefined> {
  const items: string[] = [];
  let count = 0;
  let list: { readonly start: number; end: number } | undefined;
  let depth = 0;
  let itemAt = 0;
  /** Where the string begins that the walk is in. */
  let stringAt: number | undefined;
  let isWanted = false;
  let keyExpected = true;
  let stepsLeft = stepsAtOnce;

  const isInList = () => depth === 2 && list?.end === -1;
  const endItem = (end: number) => {
    if (count < itemsMax) {
      items.push(text.slice(itemAt, end));
    }
    count++;
    itemAt = end + 1;
  };

  for (let i = 0; i < text.length; i++) {
    if (--stepsLeft <= 0) {
      yield;
      stepsLeft = stepsAtOnce;
    }
    switch (text.charCodeAt(i)) {
      case 0x22: // "
        if (stringAt !== undefined && !isEscaped(text, i)) {
          if (depth === 1 && keyExpected) {
            isWanted = isNamed(text.slice(stringAt, i + 1), name);
          }
          stringAt = undefined;
          break;
        }
        // From quote to quote, one a step: a string of a megabyte may hold half a million.
        stringAt ??= i;
        i = nextQuote(text, i + 1) - 1;
        break;
      case 0x5b: // [
      case 0x7b: // {
        if (++depth > nestingMax) {
          return undefined;
        }
        if (depth === 2 && text[i] === "[" && list === undefined && !keyExpected && isWanted) {
          list = { start: i, end: -1 };
          itemAt = i + 1;
        }
        break;
      case 0x5d: // ]
      case 0x7d: // }
        if (list && isInList()) {
          if (count > 0 || text.slice(itemAt, i).trim() !== "") {
            endItem(i);
          }
          list.end = i;
        }
        depth--;
        break;
      case 0x2c: // ,
        if (isInList()) {
          endItem(i);
        }
        keyExpected ||= depth === 1;
        break;
      case 0x3a: // :
        keyExpected &&= depth !== 1;
    }
  }
  return list === undefined || list.end === -1
    ? { frame: text, items: [], count: undefined }
    : { frame: text.slice(0, list.start + 1) + text.slice(list.end), items, count };
}

function nextQuote(text: string, from: number): number {
  const at = text.indexOf('"', from);
  return at === -1 ? text.length : at;
}

/**
 * Whether a text is the JSON of a name, of which each letter may be written as `\u0072`. Without `JSON.parse`: to throw
 * takes microseconds, and a megabyte may hold a hundred thousand keys that are none.
 */
function isNamed(text: string, name: string): boolean {
  return (
    text === `"${name}"` ||
    (text.length <= 2 + 6 * name.length &&
      text.includes("\\u") &&
      text.replaceAll(/\\u([\da-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))) ===
        `"${name}"`)
  );
}
