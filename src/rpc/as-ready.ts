/**
 * Starts tasks in their order, a few at a time, and gives each result when it is there. A slow reader slows
 * the starting down: no more results wait for it than may be under way.
 *
 * @param atOnce how many may be under way
 * @param start task by index. Its signal is aborted when the reader leaves or one of the tasks fails.
 */
export async function* asReady<T>(
  count: number,
  atOnce: number,
  start: (index: number, signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const left = new AbortController();
  const either = AbortSignal.any([signal, left.signal]);
  const running = new Map<number, Promise<{ readonly index: number; readonly result: T }>>();
  let next = 0;
  try {
    while (next < count || running.size > 0) {
      for (; next < count && running.size < atOnce; next++) {
        const index = next;
        running.set(
          index,
          start(index, either).then((result) => ({ index, result })),
        );
      }
      const { index, result } = await Promise.race(running.values());
      running.delete(index);
      yield result;
    }
  } finally {
    left.abort(new Error("the reader left"));
    await Promise.allSettled(running.values());
  }
}
