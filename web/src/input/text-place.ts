/** A range in a text, in UTF-16 code units. `end` is exclusive. */
export interface TextPlace {
  readonly start: number;
  readonly end: number;
}

const tokenMax = 64;

/** Returns the range of `token`, or of the word at `start` if the token is not at `start`. */
export function placeOfToken(text: string, start: number, token: string): TextPlace {
  const isThere = token !== "" && text.startsWith(token, start);
  const [word = ""] = /^\S+/.exec(text.slice(start, start + tokenMax)) ?? [];
  return { start, end: start + (isThere ? token : word).length };
}

/** In a long line, this number of characters is shown before and after the error. */
const aroundMax = 60;

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
