/** JSON Pointers (RFC 6901), which say where in a request a fault is. */

/** Longest key of a caller that a pointer repeats, in characters. */
const keyMaxCharacters = 64;

/** One step of a pointer with its slash. A longer key is cut, as is every echo of a caller's text. */
export function pointerStep(key: string | number): string {
  if (typeof key === "number") {
    return `/${key}`;
  }
  // The cut may go through a character.
  const short = key.length > keyMaxCharacters ? `${key.slice(0, keyMaxCharacters - 1).toWellFormed()}…` : key;
  return `/${short.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The keys that a pointer passes, outermost first. */
export function keysOfPointer(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Whether a pointer is `ancestor` or leads to something inside of it. */
export function isAtOrBelow(pointer: string, ancestor: string): boolean {
  return pointer === ancestor || pointer.startsWith(`${ancestor}/`);
}

/** A pointer as people and google.rpc.BadRequest write it: `moves[3]` for `/moves/3`. */
export function fieldPathOf(pointer: string): string {
  return keysOfPointer(pointer).reduce(
    (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : path ? `${path}.${key}` : key),
    "",
  );
}
