import { failureOf } from "./problem.ts";

export interface Wait {
  readonly error: unknown;
  /** The time of the retry, on the clock of `performance.now()`. */
  readonly endsAt: number;
  retry(): void;
}

interface Options {
  readonly signal: AbortSignal;
  onWait(wait: Wait): void;
}

/** The first wait and the longest wait in milliseconds, if the service does not respond. */
const firstMs = 500;
const longestMs = 15_000;

/** The largest random addition to a wait, in milliseconds. Without this addition, all pages would retry at the same time. */
const jitterMaxMs = 5000;

/** The longest timer of browsers in milliseconds. A longer timer would end at once. */
const timerMaxMs = 2 ** 31 - 1;

/**
 * Repeats the call after a lost connection, or when the service allows a retry, and yields all messages again.
 * Throws the error of the call if a retry would fail again.
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

/** Returns the milliseconds until the page retries, or undefined if a retry would fail again. */
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

/** Waits until `endsAt`, until the network returns, or until the user retries. A hidden tab waits until it is visible. */
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
