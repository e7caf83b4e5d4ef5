/** Returns a function that accepts values in any order and returns them in the order of their indexes. */
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
