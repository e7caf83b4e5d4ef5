/** Throws a TypeError if the reply is not a list. This happens if another program has changed the keys of Kibitz. */
export function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) {
    throw new TypeError(`Redis has answered ${typeof reply} in the place of a list`);
  }
  return reply;
}

export function textsOf(reply: unknown): readonly string[] {
  return listOf(reply).map(String);
}
