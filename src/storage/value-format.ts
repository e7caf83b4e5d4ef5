/** How values are written: as JSON, and read by who knows them. */
export interface ValueFormat<T> {
  /** Part of every key: who writes values in another way, or finds others for the same key, gets none of the old ones. */
  readonly version: number;
  /** Undefined for what is no such value: anything may stand in a file. */
  read(json: unknown): T | undefined;
}
