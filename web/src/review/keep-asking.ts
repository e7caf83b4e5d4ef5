/** How to go on where an answer breaks off. */
export interface Persistence<T> {
  /** True if the connection failed, so that a retry may help. */
  readonly isLost: (error: unknown) => boolean;
  /** Waits before the n-th try in a row, from 1. Rejects when nobody wants an answer any more. */
  readonly wait: (tries: number) => Promise<void>;
  /** True for the last message of a stream. */
  readonly isLast: (message: T) => boolean;
}

/** Tries in a row without a message, after which nobody is believed to be there. */
export const triesMax = 8;

/** Thrown if a stream ends before its last message. */
export class BrokenOff extends Error {}

/**
 * The messages of a stream, asked for again where it breaks off: then they come once more from the first.
 *
 * @throws what the service refused the call with, or the last error where it cannot be reached
 */
export async function* keepAsking<T>(
  ask: () => AsyncIterable<T>,
  { isLost, wait, isLast }: Persistence<T>,
): AsyncGenerator<T, void> {
  let isWhole = false;
  for (let tries = 1; ; tries++) {
    try {
      for await (const message of ask()) {
        tries = 1;
        yield message;
        isWhole = isLast(message);
      }
      if (!isWhole) {
        throw new BrokenOff("The answer ended before its last message.");
      }
    } catch (error) {
      if (!isWhole && (!isLost(error) || tries === triesMax)) {
        throw error;
      }
    }
    if (isWhole) {
      return;
    }
    await wait(tries);
  }
}
