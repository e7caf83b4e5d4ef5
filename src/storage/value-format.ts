export interface ValueFormat<T> {
  /**
   * Part of every key. Raise the version if the format changes, or if the values of the same keys change. Old values are then
   * misses.
   */
  readonly version: number;
  /** Returns undefined if the JSON is not a valid value. */
  read(json: unknown): T | undefined;
}
