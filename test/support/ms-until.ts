import { setTimeout as sleep } from "node:timers/promises";

/**
 * Looks again and again, until it is so: for what is promised within a time, where looking takes some itself.
 *
 * @param giveUpMs after how long the test fails in any case: more than what is promised
 * @returns after how many milliseconds the look that saw it was begun
 */
export async function msUntil(look: () => boolean | Promise<boolean>, giveUpMs = 60_000): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const ms = performance.now() - startedAt;
    if (await look()) {
      return ms;
    }
    if (ms > giveUpMs) {
      throw new Error(`not so within ${giveUpMs} ms`);
    }
    await sleep(20);
  }
}
