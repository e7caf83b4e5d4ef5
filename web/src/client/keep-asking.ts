import { failureOf } from "./problem.ts";

/** A pause between a failed call and the next try. */
export interface Wait {
  /** Why the call failed. */
  readonly error: unknown;
  /** When the page asks again, on the clock of `performance.now()`. */
  readonly endsAt: number;
  /** Asks again at once. */
  retry(): void;
}

interface Options {
  readonly signal: AbortSignal;
  onWait(wait: Wait): void;
}

/** The first wait and the longest one for a service that does not answer, in milliseconds. */
const firstMs = 500;
const longestMs = 15_000;

/** The longest time that is added at random to a wait, in milliseconds: pages that failed together do not come back together. */
const jitterMaxMs = 5000;

/** The longest timer of browsers; a longer one would end at once. */
const timerMaxMs = 2 ** 31 - 1;

/**
 * Yields the messages of a call, and asks again if the connection fails or if the service names a time to wait: then all messages
 * come once more, from the first.
 *
 * @throws the error of the call if waiting does not help, and the reason of the signal
 */
export async function* keepAsking<T>(
  ask: () => AsyncIterable<T>,
  { signal, onWait }: Options,
): AsyncGenerator<T, void> {
  for (let failures = 0; ; failures++) {
    try {
      for await (const message of ask()) {
        signal.throwIfAborted();
        failures = 0;
        yield message;
      }
      return;
    } catch (error) {
      signal.throwIfAborted();
      const ms = waitMsAfter(error, failures);
      if (ms === undefined) {
        throw error;
      }
      const jitterMs = Math.random() * Math.min(ms / 2, jitterMaxMs);
      await untilRetry(error, performance.now() + ms + jitterMs, { signal, onWait });
    }
  }
}

/** How long to wait after an error, in milliseconds; undefined if the same call would fail again. */
function waitMsAfter(error: unknown, failures: number): number | undefined {
  const failure = failureOf(error);
  switch (failure.kind) {
    case "lost":
      return Math.min(firstMs * 2 ** failures, longestMs);
    case "problem":
      return failure.problem.retryable ? failure.problem.retryAfterMs : undefined;
    default:
      return undefined;
  }
}

/** Waits, at most until a lost network is back or somebody does not want to wait. A hidden tab waits until it is shown. */
async function untilRetry(error: unknown, endsAt: number, { signal, onWait }: Options): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const done = new AbortController();
  const listening = { signal: done.signal };
  const timer = setTimeout(
    () => {
      if (document.hidden) {
        document.addEventListener("visibilitychange", () => resolve(), listening);
      } else {
        resolve();
      }
    },
    Math.min(endsAt - performance.now(), timerMaxMs),
  );
  if (failureOf(error).kind === "lost") {
    addEventListener("online", () => resolve(), listening);
  }
  signal.addEventListener("abort", () => reject(signal.reason), listening);
  onWait({ error, endsAt, retry: resolve });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    done.abort();
  }
}
