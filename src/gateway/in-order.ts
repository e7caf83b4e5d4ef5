/**
 * Puts what comes in any order back into order: gives what can be given now, and keeps what came too
 * early, no more.
 */
export function createOrder<T>(): (index: number, value: T) => readonly T[] {
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
