import { create, type DescMessage, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";

/**
 * A conversion whose messages are made once for each value, and frozen: so whoever writes them may keep what
 * was written. Unless they are said not to be worth keeping: what is kept beside a value that nobody asks for again
 * outlives it until all of memory is searched for garbage.
 *
 * @param convert is given the place where the value stands, which must always be the same.
 */
export function memoize<T extends object, D extends DescMessage>(
  desc: D,
  convert: (value: T, index: number, keep: boolean) => MessageInitShape<D>,
): (value: T, index?: number, keep?: boolean) => MessageShape<D> {
  const made = new WeakMap<T, MessageShape<D>>();
  return (value, index = 0, keep = true) => {
    if (!keep) {
      return create(desc, convert(value, index, false));
    }
    const known = made.get(value);
    if (known) {
      return known;
    }
    const message = create(desc, convert(value, index, true));
    freeze(message);
    made.set(value, message);
    return message;
  };
}

function freeze(value: object): void {
  for (const part of Object.values(value)) {
    if (typeof part === "object" && part !== null && !Object.isFrozen(part)) {
      freeze(part);
    }
  }
  Object.freeze(value);
}
