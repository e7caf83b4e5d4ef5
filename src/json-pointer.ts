/** JSON Pointers (RFC 6901), which say where in a request a fault is. */

/** The keys that a pointer passes, outermost first. */
export function keysOfPointer(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** A pointer as people and google.rpc.BadRequest write it: `moves[3]` for `/moves/3`. */
export function fieldPathOf(pointer: string): string {
  return keysOfPointer(pointer).reduce(
    (path, key) => (/^\d+$/.test(key) ? `${path}[${key}]` : path ? `${path}.${key}` : key),
    "",
  );
}
