/**
 * The first message of a stream, before anything of an answer is written: an error that comes before it is
 * an ordinary problem.
 */
export interface BegunStream<T> {
  /** Undefined if the stream has no message. */
  readonly first: T | undefined;
  /** All messages, the first one too. Leaving this ends the stream. */
  readonly all: AsyncIterable<T>;
}

/** Pulls the first message of a stream. Throws what the stream throws. */
export async function peekStream<T>(stream: AsyncIterable<T>): Promise<BegunStream<T>> {
  const messages = stream[Symbol.asyncIterator]();
  const begun = await messages.next();
  return {
    first: begun.done === true ? undefined : begun.value,
    all: (async function* () {
      try {
        for (let next = begun; next.done !== true; next = await messages.next()) {
          yield next.value;
        }
      } finally {
        await messages.return?.();
      }
    })(),
  };
}

/**
 * Puts what comes in any order back into order: gives what can be given now, and keeps what came too
 * early, no more.
 */
export function createReorderBuffer<T>(): (index: number, value: T) => readonly T[] {
  const early = new Map<number, T>();
  let next = 0;
  return (index, value) => {
    early.set(index, value);
    const ready: T[] = [];
    for (let one = early.get(next); one !== undefined; one = early.get(next)) {
      early.delete(next);
      ready.push(one);
      next++;
    }
    return ready;
  };
}
