/** How to go on where an answer breaks off. */
export interface Persistence<T> {
  /** Whether the way to the service is what failed, so that asking again may help. */
  readonly isLost: (error: unknown) => boolean;
  /** Waits before the n-th try in a row, from 1. Rejects when nobody wants an answer any more. */
  readonly wait: (tries: number) => Promise<void>;
  /** Whether a message is the last one. */
  readonly isLast: (message: T) => boolean;
}

/** Tries in a row without a message, after which nobody is believed to be there. */
export const triesMax = 8;

/** Where a stream ends before its last message. */
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
