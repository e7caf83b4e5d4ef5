/** The JSON form of stored values. */
export interface ValueFormat<T> {
  /**
   * Version of the format. It is part of every key, so that old values are misses after a change of the format, or of the values
   * for the same keys.
   */
  readonly version: number;
  /** Returns the value that the JSON represents, or undefined if the JSON is not such a value. */
  read(json: unknown): T | undefined;
}
