/** A longer key of a client is shortened in the pointer. */
const keyMaxCharacters = 64;

/** Returns a step of a pointer with its slash. Shortens a long key. */
export function pointerStep(key: string | number): string {
  if (typeof key === "number") {
    return `/${key}`;
  }
  const short = key.length > keyMaxCharacters ? `${key.slice(0, keyMaxCharacters - 1)}…` : key;
  // A shortened key can end with half of a surrogate pair, and protobuf strings cannot contain such a half.
  return `/${short.toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")}`;
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

/** Converts `/moves/3` to `moves[3]`, the notation of google.rpc.BadRequest. */
export function fieldPathOf(pointer: string): string {
  return keysOfPointer(pointer).reduce(
    (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : path ? `${path}.${key}` : key),
    "",
  );
}
