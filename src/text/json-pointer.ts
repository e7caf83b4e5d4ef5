/** Functions for JSON Pointers (RFC 6901), which name the invalid field of a request. */

/** A longer key of a client is shortened in the pointer. */
const keyMaxCharacters = 64;

/** Returns a step of a pointer, with the slash before the step. Shortens a long key. */
export function pointerStep(key: string | number): string {
  if (typeof key === "number") {
    return `/${key}`;
  }
  // Call `toWellFormed`, because the end of the shortened key may be half of a surrogate pair.
  const short = key.length > keyMaxCharacters ? `${key.slice(0, keyMaxCharacters - 1).toWellFormed()}…` : key;
  return `/${short.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function keysOfPointer(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function isAtOrBelow(pointer: string, ancestor: string): boolean {
  return pointer === ancestor || pointer.startsWith(`${ancestor}/`);
}

/** Converts a pointer to the notation of google.rpc.BadRequest: `/moves/3` becomes `moves[3]`. */
export function fieldPathOf(pointer: string): string {
  return keysOfPointer(pointer).reduce(
    (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : path ? `${path}.${key}` : key),
    "",
  );
}
