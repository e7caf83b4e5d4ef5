import { describeMove } from "../chess/moves.ts";
import type { Position } from "../chess/position.ts";
import type { TableResult } from "../tablebase/results.ts";
import type { TableAnswer, Tablebase } from "../tablebase/tablebase.ts";
import type { BeginWork } from "../thread/time-slices.ts";
import { after } from "../time/time.ts";
import { type Analysis, bestMoveFromTablebase, type ValidatedRequest, type Warning } from "./analysis.ts";

/**
 * Begins to look up the position of a request in the endgame tables. The returned function adds the result to an analysis of the
 * request, and never rejects.
 */
export type LookUpTables = (request: ValidatedRequest) => (analysis: Analysis) => Promise<Analysis>;

interface LookUp {
  /** Aborted when the answer waits no longer for tables that are being verified. */
  readonly late: AbortController;
  readonly probing: Promise<Known | undefined>;
}

interface Known {
  readonly value: TableResult;
  readonly betterMove: ReturnType<Tablebase["compareMoves"]>;
}

interface LookUpOptions {
  readonly tablebase: Pick<Tablebase, "mayKnow" | "probe" | "compareMoves">;
  readonly beginWork: BeginWork;
  /** The longest time in milliseconds that an answer of the engine waits for tables that are being verified. */
  readonly maxWaitMs: number;
  /** Called for an error other than a miss. The analysis is then the engine's alone. */
  readonly onError: (error: unknown) => void;
}

/** The caches contain only the engine's part of an analysis, because other nodes may have other tables. */
export function createLookUpTables({
  tablebase,
  beginWork,
  maxWaitMs,
  onError,
}: LookUpOptions): LookUpTables {
  async function known<T>(asked: Promise<TableAnswer<T>>): Promise<{ readonly value: T } | undefined> {
    try {
      const answer = await asked;
      return answer.kind === "known" ? answer : undefined;
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  return (request) => {
    const { position, searchMoves, weakened } = request;
    if (position.terminal || !tablebase.mayKnow(position)) {
      return asItIs;
    }
    let lookUp = begin(position, searchMoves);
    let waitMs = maxWaitMs;
    return async (analysis) => {
      const { late } = lookUp;
      // While the engine searches, tables can be verified without a delay of the answer.
      const waiting = after(waitMs, () => late.abort()).unref();
      try {
        return await withTables(analysis, lookUp, weakened);
      } finally {
        waiting.cancel();
        if (late.signal.aborted) {
          // A later state of the same search may find the tables verified. It does not wait again.
          lookUp = begin(position, searchMoves);
          waitMs = 0;
        }
      }
    };
  };

  /** All states of a search share one comparison of the moves. */
  function begin(position: Position, allowed: readonly string[]): LookUp {
    const late = new AbortController();
    const options = { turn: beginWork(), signal: late.signal };
    const probing = known(tablebase.probe(position, options)).then(
      (result) =>
        result && {
          value: result.value,
          betterMove: tablebase.compareMoves(position, result.value, { ...options, allowed }),
        },
    );
    return { late, probing };
  }

  async function withTables(analysis: Analysis, { probing }: LookUp, weakened: boolean): Promise<Analysis> {
    const result = await probing;
    const { best } = analysis;
    if (result === undefined || best === undefined) {
      return analysis;
    }
    const tablebased = { ...analysis, tablebase: result.value };
    if (weakened) {
      return tablebased;
    }
    const better = await known(result.betterMove(best.uci));
    // If the engine's move cannot be checked, leave out `tablebase`, because the best move must not give away the result in it.
    return better === undefined
      ? analysis
      : better.value === undefined
        ? tablebased
        : withBest(tablebased, better.value);
  }
}

export async function asItIs(analysis: Analysis): Promise<Analysis> {
  return analysis;
}

/** Replaces the engine's move. The engine's reply and its warning about the move then concern no move of the answer. */
function withBest(analysis: Analysis, uci: string): Analysis {
  const others = analysis.warnings.filter(({ code }) => code !== "best_move_beyond_lines");
  const warning: Warning = {
    code: bestMoveFromTablebase,
    message: `The engine's move ${analysis.best?.san} could give away the result that the endgame tables know: the best move is theirs.`,
    field: undefined,
  };
  return {
    ...analysis,
    best: describeMove(analysis.request.position, uci),
    ponder: undefined,
    warnings: [...others, warning],
  };
}
