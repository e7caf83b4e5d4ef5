/** Runs a generator without pauses. Use this only for a short task, or in a process without other requests. */
export function inOneGo<T>(slices: Generator<void, T>): T {
  let slice = slices.next();
  while (!slice.done) {
    slice = slices.next();
  }
  return slice.value;
}
