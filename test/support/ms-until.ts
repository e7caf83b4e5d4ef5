import { setTimeout as sleep } from "node:timers/promises";

/**
 * Polls a condition until it holds, for promises about time whose check takes some time itself.
 * @param giveUpMs the time after which the test fails in any case: more than the promised time
 * @returns the milliseconds until the start of the first check that succeeded
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
