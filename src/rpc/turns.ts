import { setImmediate } from "node:timers/promises";

/** Resolves when its caller's turn has come. */
export type Turns = () => Promise<void>;

/**
 * Hands out turns of the event loop, one to each who asks: what takes milliseconds and waits for nothing would else
 * run in one go with all that comes after it, and nobody else would be served meanwhile.
 */
export function createTurns(): Turns {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => setImmediate());
    return last;
  };
}
