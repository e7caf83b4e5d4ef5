/** The JSON form of stored values. */
export interface ValueFormat<T> {
  /** Part of every key, so that a change of the form, or of the values for the same keys, makes old values a miss. */
  readonly version: number;
  /** Returns undefined if the JSON is no such value. */
  read(json: unknown): T | undefined;
}
