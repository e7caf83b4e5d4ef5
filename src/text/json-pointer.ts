/** JSON Pointers (RFC 6901), which name the place of a violation in a request. */

/** The maximum number of characters of a client's key that a pointer repeats. */
const keyMaxCharacters = 64;

/** Returns one step of a pointer, with its slash. A long key is cut, like all repeated text of a client. */
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

export function isAtOrBelow(pointer: string, ancestor: string): boolean {
  return pointer === ancestor || pointer.startsWith(`${ancestor}/`);
}

/** Converts a pointer to the notation of google.rpc.BadRequest: `moves[3]` for `/moves/3`. */
export function fieldPathOf(pointer: string): string {
  return keysOfPointer(pointer).reduce(
    (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : path ? `${path}.${key}` : key),
    "",
  );
}
