import { setTimeout as sleep } from "node:timers/promises";
import { type Ask, isConstraint } from "./database.ts";

/** Writes that are committed together at most: each takes some 50 µs. */
const togetherMax = 50;

/** How many times as long as a commit took the next one waits: so much of the thread is for others. */
const pause = 4;

/** Longest pause, in milliseconds: what took longer has waited for another process, and held nobody up. */
const pauseMaxMs = 200;

/** A write that somebody waits for. */
interface Waiting {
  /** Does it, in a transaction; after one that failed, perhaps again. */
  run(): void;
  /** It is committed. */
  settle(): void;
  fail(error: unknown): void;
}

/**
 * Writes whose number is up to callers. A commit waits for the disk and holds the thread, for half a millisecond or for
 * some tens: writes that come while one is under way or in the pause after it are committed together.
 *
 * @returns as `Ask.write`, for works that leave nothing behind where they break a constraint.
 */
export function createGroupedWrites(ask: Ask): Ask["write"] {
  let waiting: Waiting[] = [];
  let isRunning = false;

  async function runAll(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      const together = waiting.slice(0, togetherMax);
      waiting = waiting.slice(togetherMax);
      const startedAt = performance.now();
      try {
        await ask.write(() => {
          for (const one of together) {
            one.run();
          }
        });
        for (const one of together) {
          one.settle();
        }
      } catch (error) {
        // Those behind it would wait in vain as long again.
        for (const one of [...together, ...waiting.splice(0)]) {
          one.fail(error);
        }
      }
      await sleep(Math.min((performance.now() - startedAt) * pause, pauseMaxMs));
    }
    isRunning = false;
  }

  return <T>(work: () => T) => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let settle = () => {};
    waiting.push({
      run() {
        try {
          const result = work();
          settle = () => resolve(result);
        } catch (error) {
          if (!isConstraint(error)) {
            throw error;
          }
          settle = () => reject(error);
        }
      },
      settle: () => settle(),
      fail: reject,
    });
    if (!isRunning) {
      void runAll();
    }
    return promise;
  };
}
