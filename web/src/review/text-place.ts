/** A place in a text, in UTF-16 units; `end` is behind its last. */
export interface TextPlace {
  readonly start: number;
  readonly end: number;
}

/** How much of a token is quoted, in characters. */
const tokenMax = 64;

/** Returns the place of the quoted token at an offset; if the text is spelt otherwise there, the place of the word. */
export function placeOfToken(text: string, start: number, token: string): TextPlace {
  const isThere = token !== "" && text.startsWith(token, start);
  const [word = ""] = /^\S+/.exec(text.slice(start, start + tokenMax)) ?? [];
  return { start, end: start + (isThere ? token : word).length };
}

/** How much of a long line is shown around a place in it, in characters. */
const aroundMax = 60;

/** The line in which a place is, cut down to what is near. */
export function lineAround(text: string, { start, end }: TextPlace) {
  const from = text.lastIndexOf("\n", start - 1) + 1;
  const newline = text.indexOf("\n", end);
  const before = text.slice(start === 0 ? 0 : from, start);
  const behind = text.slice(end, newline === -1 ? text.length : newline);
  return {
    before: before.length > aroundMax ? `…${before.slice(-aroundMax).toWellFormed()}` : before,
    marked: text.slice(start, end),
    behind: behind.length > aroundMax ? `${behind.slice(0, aroundMax).toWellFormed()}…` : behind,
  };
}
