import { after } from "../time/time.ts";
/** Requests of this process that wait until their subject may start another search. The longest wait is served first. */
export interface Turns {
  /** The number of waiting requests of the subject. */
  waiting(subject: string): number;
  /** Adds a request to the end of the queue. Disposing of the turn removes the request. */
  take(subject: string): Turn;
  /** Wakes the request that has waited longest. When that request leaves the queue, the next request is woken. */
  wakeFirst(subject: string): void;
}

interface Turn extends Disposable {
  /** The number of requests of the subject that have waited longer. */
  readonly ahead: number;
  /**
   * Resolves when the request is woken, at once if it was woken since the last call, or after `maxMs`. Rejects with the abort
   * reason of `signal`.
   */
  woken(signal: AbortSignal, maxMs?: number): Promise<void>;
}

export function createTurns(): Turns {
  const queues = new Map<string, (() => void)[]>();
  const wakeFirst = (subject: string) => queues.get(subject)?.[0]?.();

  return {
    waiting: (subject) => queues.get(subject)?.length ?? 0,
    wakeFirst,
    take(subject) {
      let isWoken = false;
      let onWoken = () => {};
      const wake = () => {
        isWoken = true;
        onWoken();
      };
      const queue = queues.get(subject) ?? [];
      queue.push(wake);
      queues.set(subject, queue);
      return {
        get ahead() {
          return queue.indexOf(wake);
        },
        async woken(signal, maxMs) {
          if (!isWoken && !signal.aborted) {
            const { promise, resolve } = Promise.withResolvers<void>();
            onWoken = resolve;
            const timer = maxMs === undefined ? undefined : after(maxMs, resolve);
            const stop = () => resolve();
            signal.addEventListener("abort", stop, { once: true });
            await promise;
            signal.removeEventListener("abort", stop);
            timer?.cancel();
          }
          isWoken = false;
          signal.throwIfAborted();
        },
        [Symbol.dispose]() {
          const at = queue.indexOf(wake);
          queue.splice(at, 1);
          if (queue.length === 0) {
            queues.delete(subject);
          } else if (at === 0) {
            wakeFirst(subject);
          }
        },
      };
    },
  };
}
