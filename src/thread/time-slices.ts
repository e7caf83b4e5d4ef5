import { now, turn } from "../time/time.ts";

/** Await this function before each step of a long task. Rejects if the task's `check` throws. */
export type Turn = () => Promise<void>;

/** Starts a task of many steps. `check` runs before each time slice. If `check` throws, the task ends. */
export type BeginWork = (check?: () => void) => Turn;

/** The time slice of a task in milliseconds. A slice can last up to 3 ms, because the last step is not interrupted. */
const sliceMs = 1;

/** Divides long tasks into time slices. Each iteration of the event loop runs one slice of one task. */
export function createTimeSlicer(clock = now): BeginWork {
  let lastSlice: Promise<void> = Promise.resolve();

  function nextSlice(): Promise<void> {
    lastSlice = lastSlice.then(() => turn());
    return lastSlice;
  }

  return (check) => {
    let lastTurn: Promise<void> = Promise.resolve();
    let endsAt = Number.NEGATIVE_INFINITY;

    // Wait until the previous step has started, because this step may use the rest of the time slice.
    async function begin(): Promise<void> {
      if (clock() >= endsAt) {
        await nextSlice();
        endsAt = clock() + sliceMs;
        check?.();
      }
    }

    return () => {
      lastTurn = lastTurn.then(begin);
      return lastTurn;
    };
  };
}

export async function inTurns<T>(pieces: Generator<void, T>, turn: Turn): Promise<T> {
  for (;;) {
    await turn();
    const piece = pieces.next();
    if (piece.done) {
      return piece.value;
    }
  }
}
