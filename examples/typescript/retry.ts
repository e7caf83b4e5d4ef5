/** Decides whether the failed request is sent again. */
export type Failure =
  /** Retry after `waitMs`, as the service requested. */
  | { readonly kind: "limited"; readonly waitMs: number }
  /** Retry soon: the connection broke, or the server process ended. */
  | { readonly kind: "lost" }
  /** Do not retry: the service would refuse the same request again. */
  | { readonly kind: "refused" };

const longestWaitMs = 60_000;
const lostMax = 5;

/**
 * Runs `call`, and retries it if the service requests a delay or if the connection breaks. A retry is safe for analyses, because
 * a search has no side effects. Use this for `CreateKey` only with an
 * idempotency_key, because a retry could otherwise create two keys.
 */
export async function callWithRetry<T>(
  call: () => Promise<T>,
  failureOf: (error: unknown) => Failure,
  print: (line: string) => void,
): Promise<T> {
  for (let lost = 0; ; ) {
    try {
      return await call();
    } catch (error) {
      const failure = failureOf(error);
      if (failure.kind === "limited" && failure.waitMs <= longestWaitMs) {
        print(`rate limited, waiting ${Math.round(failure.waitMs / 1000)} s`);
        await sleep(failure.waitMs);
      } else if (failure.kind === "lost" && lost < lostMax) {
        lost++;
        print("connection lost, asking again");
        // Wait for a random time, so that clients do not retry all at once. The maximum wait doubles with each retry.
        await sleep(100 * 2 ** lost * Math.random());
      } else {
        throw error;
      }
    }
  }
}

/** Returns a function that is true for each new depth. After a retry, the stream repeats the depths from the beginning. */
export function createNewDepths(): (depth: number) => boolean {
  let deepest = 0;
  return (depth) => {
    const isNew = depth > deepest;
    deepest = Math.max(deepest, depth);
    return isNew;
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
