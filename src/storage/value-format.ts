export interface ValueFormat<T> {
  /**
   * A part of every cache key. Raise the version if the format changes, or if the values of the same keys change. Values of an
   * older version are then misses.
   */
  readonly version: number;
  /** Returns undefined if the JSON is not a valid value. */
  read(json: unknown): T | undefined;
}
