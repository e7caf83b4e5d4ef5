/** JSON Pointers (RFC 6901) name the place of a violation in a request. */

/** A pointer repeats no more characters of a caller's key. */
const keyMaxCharacters = 64;

/** One step of a pointer with its slash. A longer key is cut, like every echo of a caller's text. */
export function pointerStep(key: string | number): string {
  if (typeof key === "number") {
    return `/${key}`;
  }
  // The cut may go through a surrogate pair.
  const short = key.length > keyMaxCharacters ? `${key.slice(0, keyMaxCharacters - 1).toWellFormed()}…` : key;
  return `/${short.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The keys of a pointer, outermost first. */
export function keysOfPointer(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** True if a pointer is `ancestor` or below it. */
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
