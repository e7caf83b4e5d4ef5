/**
 * What something takes, in milliseconds: the least of some tries, because what is promised of it is not promised of what else runs on
 * the machine, which only ever adds. What is too slow by itself is so each time. Ends with the first try that keeps the promise.
 */
export async function leastMsOf(promisedMs: number, once: () => number | Promise<number>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 5 && least >= promisedMs; tries++) {
    least = Math.min(least, await once());
  }
  return least;
}
