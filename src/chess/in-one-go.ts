/** Runs work that yields after each time slice to its end in one go: short work, or work in a process that serves nobody else. */
export function inOneGo<T>(slices: Generator<void, T>): T {
  let slice = slices.next();
  while (!slice.done) {
    slice = slices.next();
  }
  return slice.value;
}
