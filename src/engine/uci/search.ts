import { isLegal } from "../../chess/moves.ts";
import { now } from "../../time/time.ts";
import { EngineFailure, type OnProgress, type SearchDone, type SearchJob, type Snapshot } from "../engine.ts";
import type { UciLine } from "./parse-line.ts";
import { createSnapshotFold } from "./snapshot-fold.ts";
import type { UciTransport } from "./transport.ts";
import { createDeadline, type Deadline, type WatchTimes, watchSilence } from "./watch.ts";

export interface UciSearch {
  /** Settles when the search or the engine has ended. Rejects with the reason of `signal` after an abort. */
  readonly answer: Promise<SearchDone>;
  receive(line: UciLine): void;
  /** Stops the engine as if the time limit had passed, but not before the first `info` line. */
  cutShort(): void;
  fail(failure: EngineFailure): void;
}

interface SearchOptions {
  readonly job: SearchJob;
  readonly optionLines: readonly string[];
  readonly times: WatchTimes;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress | undefined;
  /**
   * Called after `bestmove`, when no further output of this search can follow, except this number of `readyok`: the answers to
   * `isready` during the search.
   */
  readonly onEnd: (readyoks: number) => void;
  /** Must kill the engine, and then call `fail` of the search. */
  readonly kill: (failure: EngineFailure) => void;
}

/** The largest depth of Stockfish in plies. Near a mate or a draw, Stockfish reaches this depth within milliseconds. */
const deepest = 245;

/**
 * If an engine uses the processor for this fraction of `stopMs`, the engine has ignored `stop`. Otherwise, the machine was
 * slow.
 */
const overtimeShare = 0.25;

/**
 * Starts a search on a clean engine. At the time limit, sends `stop`. The engine gets a longer `movetime`, because engines that
 * end a search a moment before their `movetime` would make it unknown which limit was reached.
 *
 * Kills the engine if its output is invalid, if it does not answer `isready`, or if it does not end in time after `stop`. If
 * the time limit passes before the first `info` line, waits slightly longer, because a result needs the score in this line.
 */
export function startSearch(
  transport: UciTransport,
  { job, optionLines, times, signal, onProgress, onEnd, kill }: SearchOptions,
): UciSearch {
  const { position, nodes, movetimeMs, searchMoves } = job;
  const moveCount = searchMoves.length || position.legalMoveCount;
  const fold = createSnapshotFold({ lineCount: Math.min(job.multipv, moveCount), nodes, movetimeMs });
  const answer = Promise.withResolvers<SearchDone>();
  const startedAt = now();
  /** Set when the engine is stopped although the caller still waits for the result. */
  let stopReason: "limit" | "cut short" | undefined;
  let stopping: Deadline | undefined;
  const silence = watchSilence(transport, times, (silentMs) =>
    kill(new EngineFailure("unresponsive", `no sign of life for ${silentMs} ms while searching`)),
  );
  let limit = createDeadline(movetimeMs, () => {
    stopReason ??= "limit";
    if (fold.final()) {
      stop();
    } else {
      limit = createDeadline(times.stopMs, stop);
    }
  });

  signal.addEventListener("abort", stop, { once: true });
  transport.send(...optionLines, positionLine(job), goLine(job, movetimeMs + times.marginMs));

  function stop(): void {
    if (stopping) {
      return;
    }
    transport.send("stop");
    // The engine may print its unfinished iteration like a complete iteration.
    fold.close();
    const beforeMs = transport.processorMs();
    stopping = createDeadline(times.stopMs, () => {
      const nowMs = transport.processorMs();
      const usedMs = beforeMs === undefined || nowMs === undefined ? undefined : nowMs - beforeMs;
      const blamesPosition = usedMs === undefined || usedMs >= times.stopMs * overtimeShare;
      kill(new EngineFailure("overtime", `no bestmove ${times.stopMs} ms after stop`, { blamesPosition }));
    });
  }

  function end(): void {
    signal.removeEventListener("abort", stop);
    silence.end();
    limit.clear();
    stopping?.clear();
  }

  function killForProtocolError(message: string): void {
    kill(new EngineFailure("protocol_error", message));
  }

  /** Moves that were already validated, because an engine prints the same moves many times. */
  const checked = new Set<string>();

  /** Returns false and kills the engine if a move is illegal, or if `searchMoves` does not contain the move. */
  function areAllowed(moves: readonly string[]): boolean {
    for (const move of moves) {
      const isNamed = searchMoves.length === 0 || searchMoves.includes(move);
      if (!checked.has(move) && !(isNamed && isLegal(position, move))) {
        const named = isNamed ? "" : `, or none of ${searchMoves.join(" ")}`;
        killForProtocolError(`${move} is not legal in ${position.fen}${named}`);
        return false;
      }
      checked.add(move);
    }
    return true;
  }

  /**
   * The depth or the nodes ended the search only if the engine ended it without `stop`, and before the time limit by its own
   * clock and by the clock of this process. An engine that this process reads late may have reached its own `movetime`.
   * Do not compare the nodes, because Stockfish 19 sometimes does not print its last number of nodes.
   */
  function endOf({ complete, depth, counters }: Snapshot): SearchDone["endedBy"] {
    if (stopReason === "cut short") {
      return "stop";
    }
    const tookMs = Math.max(counters.timeMs, now() - startedAt);
    if (stopReason || tookMs >= movetimeMs) {
      return "time";
    }
    if (complete && depth >= (job.depth ?? deepest)) {
      return "depth";
    }
    return nodes === undefined ? "time" : "nodes";
  }

  /** Settles `answer`. Returns false if the engine was killed because of an invalid answer. */
  function accept(bestMove: string | undefined, ponder: string | undefined): boolean {
    if (signal.aborted) {
      // Accept any answer, because the engine may have been stopped before it had found a move.
      answer.reject(signal.reason);
      return true;
    }
    const snapshot = fold.final();
    if (bestMove === undefined || !(snapshot || stopReason)) {
      killForProtocolError(`bestmove ${bestMove ?? "(none)"} after ${snapshot ? "a line" : "no line"}`);
      return false;
    }
    if (!snapshot) {
      // Do not kill the engine: the machine was slow, but the engine can run other searches.
      answer.reject(new EngineFailure("overtime", "stopped before its first line"));
      return true;
    }
    if (!areAllowed([bestMove, ...firstMovesOf(snapshot)])) {
      return false;
    }
    answer.resolve({ kind: "done", snapshot, bestMove, ponder, endedBy: endOf(snapshot) });
    return true;
  }

  return {
    answer: answer.promise,
    cutShort() {
      stopReason = "cut short";
      if (fold.final()) {
        stop();
      }
    },
    fail(failure) {
      answer.reject(failure);
      end();
    },
    receive(line) {
      silence.heard();
      if (line.kind === "bestmove") {
        if (accept(line.move, line.ponder)) {
          end();
          onEnd(silence.unanswered());
        }
      } else if (line.kind === "readyok") {
        silence.answered();
      } else if (line.kind === "critical") {
        killForProtocolError(line.reason);
      } else if (line.kind === "info") {
        const snapshot = fold.add(line.info);
        if (snapshot && !signal.aborted && areAllowed(firstMovesOf(snapshot))) {
          onProgress?.({ kind: "progress", snapshot });
        }
        if (stopReason && fold.final()) {
          stop();
        }
      }
    },
  };
}

function positionLine({ position }: SearchJob): string {
  const moves = position.moves.length > 0 ? ` moves ${position.moves.join(" ")}` : "";
  return `position fen ${position.root}${moves}`;
}

/** `searchmoves` is last, because engines read all words after `searchmoves` as moves. */
function goLine({ depth, nodes, searchMoves }: SearchJob, movetimeMs: number): string {
  const plies = depth === undefined ? "" : ` depth ${depth}`;
  const visits = nodes === undefined ? "" : ` nodes ${nodes}`;
  const moves = searchMoves.length === 0 ? "" : ` searchmoves ${searchMoves.join(" ")}`;
  return `go${plies}${visits} movetime ${movetimeMs}${moves}`;
}

function firstMovesOf({ lines }: Snapshot): readonly string[] {
  return lines.flatMap(({ moves }) => moves.slice(0, 1));
}
