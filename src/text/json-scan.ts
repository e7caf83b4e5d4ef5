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
