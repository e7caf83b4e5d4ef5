export interface ValueFormat<T> {
  /**
   * The version is a part of every cache key, so values of older versions are never read. Increase the version if the format
   * changes, or if the same request gets other values.
   */
  readonly version: number;
  /** Returns undefined if the JSON is not a valid value. */
  read(json: unknown): T | undefined;
}
