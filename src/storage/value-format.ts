export interface ValueFormat<T> {
  /** A part of every cache key. Increase the version if the format changes, or if the same request gets a different answer. */
  readonly version: number;
  read(json: unknown): T | undefined;
}
