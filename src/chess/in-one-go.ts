/** Runs a generator without its breaks: for short work, or for a process that serves no other requests. */
export function inOneGo<T>(slices: Generator<void, T>): T {
  let slice = slices.next();
  while (!slice.done) {
    slice = slices.next();
  }
  return slice.value;
}
