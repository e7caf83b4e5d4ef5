/** How long an engine may take for what, in milliseconds. */
export interface WatchTimes {
  /** From the start of the process to `readyok`. The full network takes 1 s; a machine under load several. */
  readonly startMs: number;
  /** Silence in a search after which the engine is asked for a sign of life. */
  readonly silenceMs: number;
  /** How long that sign may take. WASM engines read their input every 46 ms. */
  readonly deafMs: number;
  /** Past the limit of a search, when the engine is told to stop. */
  readonly lateMs: number;
  /**
   * From `stop` to `bestmove`; then it is killed. The promises to callers are 500 ms until an engine is free
   * when they leave, and 1500 ms past the limit until an answer or an error is out: `lateMs` and this.
   */
  readonly stopMs: number;
  /** From an answer to `readyok` after the new game. Clearing 16 MiB takes 1 to 2 ms. */
  readonly cleanMs: number;
}

export const defaultWatchTimes: WatchTimes = {
  startMs: 15_000,
  silenceMs: 1000,
  deafMs: 3000,
  lateMs: 200,
  stopMs: 400,
  cleanMs: 5000,
};
