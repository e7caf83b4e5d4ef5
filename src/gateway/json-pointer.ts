/** Longest key of a caller that a pointer repeats, in characters. */
const keyMaxCharacters = 64;

/** One step of a JSON Pointer (RFC 6901) with its slash. A longer key is cut, as is every echo of a caller's text. */
export function pointerStep(key: string | number): string {
  if (typeof key === "number") {
    return `/${key}`;
  }
  const short = key.length > keyMaxCharacters ? `${key.slice(0, keyMaxCharacters - 1)}…` : key;
  return `/${short.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** Whether a pointer is `ancestor` or leads to something inside of it. */
export function isAtOrBelow(pointer: string, ancestor: string): boolean {
  return pointer === ancestor || pointer.startsWith(`${ancestor}/`);
}
