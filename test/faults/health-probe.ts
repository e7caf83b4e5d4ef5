import { onTestFinished } from "vitest";

/**
 * Requests `/healthz` repeatedly until the returned function is called or the test ends. The function returns the response
 * times in milliseconds. `nowMs` is the clock.
 */
export function probeHealth(
  url: string,
  everyMs = 20,
  nowMs: () => number = () => performance.now(),
): () => Promise<readonly number[]> {
  const tookMs: number[] = [];
  let going = true;
  const probing = (async () => {
    while (going) {
      const askedAt = nowMs();
      const response = await fetch(`${url}/healthz`);
      await response.text();
      tookMs.push(nowMs() - askedAt);
      if (response.status !== 200) {
        throw new Error(`/healthz answered ${response.status}`);
      }
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  })();
  // After a failed test, errors of the probe are not important.
  probing.catch(() => {});
  onTestFinished(() => {
    going = false;
  });
  return async () => {
    going = false;
    await probing;
    return tookMs;
  };
}
