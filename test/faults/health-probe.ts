import { onTestFinished } from "vitest";

/**
 * Asks `/healthz` again and again, and keeps how long each answer took, in milliseconds. Stop it to get them; with the test it ends anyway.
 *
 * @param nowMs the clock that this is told by
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
  // Errors after a failed test do not matter.
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
