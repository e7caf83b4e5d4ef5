import { setImmediate } from "node:timers/promises";

/** Resolves when its caller may do a piece of its work. */
export type Turn = () => Promise<void>;

/** How long one work may take the thread in a turn of the event loop, in milliseconds. */
const sliceMs = 5;

/**
 * Slices of the thread for works of many pieces, one slice in each turn of the event loop: pieces that wait for nothing
 * would else run in one go, and nobody else would be served meanwhile. A work keeps its slice until that is used up, so
 * that little of many works is in memory half done.
 *
 * @returns begins a work: each of its pieces is to be begun when its turn has come
 */
export function createSlices(now: () => number = () => performance.now()): () => Turn {
  let lastSlice: Promise<void> = Promise.resolve();

  function nextSlice(): Promise<void> {
    lastSlice = lastSlice.then(() => setImmediate());
    return lastSlice;
  }

  return () => {
    let lastTurn: Promise<void> = Promise.resolve();
    let endsAt = Number.NEGATIVE_INFINITY;

    // Asked when the piece before has been begun, which may have used the slice up.
    async function begin(): Promise<void> {
      if (now() >= endsAt) {
        await nextSlice();
        endsAt = now() + sliceMs;
      }
    }

    return () => {
      lastTurn = lastTurn.then(begin);
      return lastTurn;
    };
  };
}
