export interface ValueFormat<T> {
  /** The version is part of every key, so that old values are misses if the format, or the values for the same keys, change. */
  readonly version: number;
  /** Returns undefined if the JSON is not such a value. */
  read(json: unknown): T | undefined;
}
