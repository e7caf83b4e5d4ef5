import type { Score } from "../../chess/score.ts";

/**
 * Whom the session asks: Kibitz in this process or elsewhere, by the same request as every caller of the API. No engine is
 * spoken to here, and none of its lines is read.
 */
export interface Analyst {
  /** What is to be known before the first question. Rejects only where nothing can ever be answered. */
  introduce(): Promise<Introduction>;
  /**
   * Complete states as the search deepens; the last one has its `ended`. Called off by the signal.
   *
   * @throws KibitzError for what is refused; another Error where nobody was reached
   */
  watch(question: Question, signal: AbortSignal): AsyncIterable<Finding>;
}

export interface Introduction {
  /** Of the engine: `Stockfish 19 WASM`. */
  readonly name: string;
  readonly author: string;
  /** The options that may be sent with a question. */
  readonly options: readonly OptionOfEngine[];
  /** Why nothing of this is known yet; undefined where it is. */
  readonly complaint?: string;
}

/** An option as the engine declares it. */
export type OptionOfEngine = {
  /** JSON name: `skill_level`. */
  readonly name: string;
  /** The engine's own: `Skill Level`. */
  readonly engineName: string;
} & (
  | { readonly kind: "integer"; readonly default: number; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "boolean"; readonly default: boolean }
);

/** Values by JSON name. */
export type OptionValues = Readonly<Record<string, number | boolean>>;

/** A request for an analysis. */
export interface Question extends Limits {
  readonly fen: string;
  readonly moves: readonly string[];
  readonly multipv: number;
  /** UCI; empty for all that are legal. */
  readonly searchMoves: readonly string[];
  readonly options: OptionValues;
}

/** What ends a search, at least one of them. */
export interface Limits {
  /** Plies. */
  readonly depth?: number;
  readonly nodes?: number;
  readonly movetimeMs?: number;
}

/** What becomes of a question. */
export type Finding =
  /** It waits for an engine: behind so many, for so long. */
  | { readonly kind: "queued"; readonly place: number; readonly expectedWaitMs: number }
  | { readonly kind: "state"; readonly state: State };

/** What has been found, complete in itself. Scores are from White's point of view. */
export interface State {
  /** Plies; 0 where the game is over. */
  readonly depth: number;
  /** UCI. Undefined where the game is over. */
  readonly best: string | undefined;
  readonly ponder: string | undefined;
  readonly score: Score;
  /** Best first; empty where the game is over. */
  readonly lines: readonly Line[];
  readonly nodes: number;
  readonly nps: number;
  readonly timeMs: number;
  /** Per mille. */
  readonly hashfull: number;
  readonly tbhits: number;
  /** Undefined while the search goes on. */
  readonly ended: Ended | undefined;
}

interface Line {
  readonly depth: number;
  readonly seldepth: number;
  readonly score: Score;
  /** UCI. */
  readonly moves: readonly string[];
}

/** What ended a search; the `rules` where the game is over. */
export type Ended = "depth" | "nodes" | "time" | "rules";
