import { isLegal } from "../../chess/moves.ts";
import { EngineFailure, type OnProgress, type SearchDone, type SearchJob, type Snapshot } from "../engine.ts";
import type { UciLine } from "./parse-line.ts";
import { createSnapshotFold } from "./snapshot-fold.ts";
import type { UciTransport } from "./transport.ts";
import { createDeadline, type Deadline, type WatchTimes, watchSilence } from "./watch.ts";

/** A search on one engine, from `go` to `bestmove`. */
export interface UciSearch {
  /** Settles when the engine has ended the search or is gone. Rejects with the reason of `signal` if the caller has given up. */
  readonly answer: Promise<SearchDone>;
  receive(line: UciLine): void;
  /** Stops the engine as if the time of the search were over, but not before its first line. */
  cutShort(): void;
  fail(failure: EngineFailure): void;
}

interface SearchOptions {
  readonly job: SearchJob;
  /** The `setoption` lines, which are sent before the position. */
  readonly optionLines: readonly string[];
  readonly times: WatchTimes;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress | undefined;
  /** Called after `bestmove`: no more output of this search can come. */
  readonly onEnd: () => void;
  /** Kills the engine. It must then call `fail`. */
  readonly kill: (failure: EngineFailure) => void;
}

/** The greatest depth that Stockfish searches, in plies. It reaches this depth in milliseconds if a mate or a draw is near. */
const deepest = 245;

/** If an engine runs for this share of `stopMs` after `stop`, it ignores `stop`; if for less, the machine is slow. */
const overtimeShare = 0.25;

/**
 * Watches a search, and kills an engine that
 * - rejects the position, or answers without a move, without a line or with an illegal move,
 * - is silent and does not answer `isready`, which an engine must answer even during a search,
 * - does not end in time after `stop`, which ends a search at its limit, if it is cut short, or if the caller has given up.
 *
 * If the time limit passes before the first line, the search gets a little more time, because an answer needs a score.
 */
export function startSearch(
  transport: UciTransport,
  { job, optionLines, times, signal, onProgress, onEnd, kill }: SearchOptions,
): UciSearch {
  const { position, nodes, movetimeMs, searchMoves } = job;
  const moveCount = searchMoves.length || position.legalMoveCount;
  const fold = createSnapshotFold({ lineCount: Math.min(job.multipv, moveCount), nodes, movetimeMs });
  const answer = Promise.withResolvers<SearchDone>();
  const startedAt = performance.now();
  /** The reason why the engine is stopped although a caller still waits; undefined while the search may go on. */
  let because: "limit" | "cut short" | undefined;
  /** The deadline for the end of the search after `stop`; undefined until `stop` is sent. */
  let stopping: Deadline | undefined;
  const silence = watchSilence(transport, times, (silentMs) =>
    kill(new EngineFailure("unresponsive", `no sign of life for ${silentMs} ms while searching`)),
  );
  let limit = createDeadline(movetimeMs + times.lateMs, () => {
    because ??= "limit";
    if (fold.final()) {
      stop();
    } else {
      limit = createDeadline(times.stopMs, stop);
    }
  });

  signal.addEventListener("abort", stop, { once: true });
  transport.send(...optionLines, positionLine(job), goLine(job));

  function stop(): void {
    if (stopping) {
      return;
    }
    transport.send("stop");
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

  /** Moves are checked once, because an engine prints the same few moves many times. */
  const checked = new Set<string>();

  /** True if the search may report all of these moves. Kills the engine otherwise. */
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

  function endOf({ complete, depth }: Snapshot): SearchDone["endedBy"] {
    if (complete && depth >= (job.depth ?? deepest)) {
      return "depth";
    }
    if (because === "cut short") {
      return "stop";
    }
    // Let the clock decide, because Stockfish 19 does not print the last count of nodes if its move loses. The engine's clock
    // started later than this one, so if time is left here, time has not ended the search.
    const isInTime = because === undefined && performance.now() - startedAt < movetimeMs;
    return nodes !== undefined && isInTime ? "nodes" : "time";
  }

  /** Settles `answer`. Returns false if the engine was killed because of its answer. */
  function accept(bestMove: string | undefined, ponder: string | undefined): boolean {
    if (signal.aborted) {
      // Accept any answer: the engine may have been stopped before it had a move.
      answer.reject(signal.reason);
      return true;
    }
    const snapshot = fold.final();
    if (bestMove === undefined || !(snapshot || because)) {
      killForProtocolError(`bestmove ${bestMove ?? "(none)"} after ${snapshot ? "a line" : "no line"}`);
      return false;
    }
    if (!snapshot) {
      // Do not kill the engine: the machine was slow, and the engine can serve other searches.
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
      because = "cut short";
      fold.close();
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
          onEnd();
        }
      } else if (line.kind === "critical") {
        killForProtocolError(line.reason);
      } else if (line.kind === "info") {
        const snapshot = fold.add(line.info);
        if (snapshot && !signal.aborted && areAllowed(firstMovesOf(snapshot))) {
          onProgress?.({ kind: "progress", snapshot });
        }
        if (because && fold.final()) {
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

/** Returns the `go` line. `searchmoves` comes last, because engines read everything after it as moves. */
function goLine({ depth, nodes, movetimeMs, searchMoves }: SearchJob): string {
  const plies = depth === undefined ? "" : ` depth ${depth}`;
  const visits = nodes === undefined ? "" : ` nodes ${nodes}`;
  const moves = searchMoves.length === 0 ? "" : ` searchmoves ${searchMoves.join(" ")}`;
  return `go${plies}${visits} movetime ${movetimeMs}${moves}`;
}

function firstMovesOf({ lines }: Snapshot): readonly string[] {
  return lines.flatMap(({ moves }) => moves.slice(0, 1));
}
