/**
 * Keeps answers that never change. Values are plain data: a store may write them as JSON, and whoever gets one
 * must not change it.
 */
export interface AnalysisCache<T> {
  /**
   * The value of a key, or undefined. Memory answers at once and a store beyond the network with a promise, so
   * that an answer from memory costs no turn of the event loop. Never throws or rejects: a store that cannot be
   * asked has nothing. A promise settles as soon as `signal` is aborted.
   */
  get(key: string, signal: AbortSignal): T | undefined | Promise<T | undefined>;
  /** Keeps a value, as long as there is room. Nobody waits for it; a failure is for the store's own log. */
  set(key: string, value: T): void;
}
