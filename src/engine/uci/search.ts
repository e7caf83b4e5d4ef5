import { isLegal } from "../../chess/moves.ts";
import { now } from "../../time/time.ts";
import { EngineFailure, type OnProgress, type SearchDone, type SearchJob, type Snapshot } from "../engine.ts";
import type { EngineProfile } from "../profiles.ts";
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
  readonly profile: EngineProfile;
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

/**
 * If an engine uses the processor for this fraction of `stopMs`, the engine has ignored `stop`. Otherwise, the machine was
 * slow.
 */
const overtimeShare = 0.25;

/** An engine may start its clock slightly before this process starts its own. */
const clockToleranceMs = 1000;

/**
 * Starts a search on a clean engine. At the time limit, sends `stop`. The engine gets a longer `movetime`, because engines that
 * end a search a moment before their `movetime` would make it unknown which limit was reached.
 *
 * Kills the engine if its output is invalid, if it does not answer `isready`, or if it does not end in time after `stop`. If
 * the time limit passes before the first `info` line, waits slightly longer, because a result needs the score in this line.
 */
export function startSearch(transport: UciTransport, options: SearchOptions): UciSearch {
  return new RunningSearch(transport, options);
}

/** The methods are in the order of a search: begin, read lines, reach the limit, stop, answer, end. */
class RunningSearch implements UciSearch {
  readonly answer: Promise<SearchDone>;
  readonly #answer = Promise.withResolvers<SearchDone>();
  readonly #transport: UciTransport;
  readonly #options: SearchOptions;
  readonly #fold: ReturnType<typeof createSnapshotFold>;
  readonly #silence: ReturnType<typeof watchSilence>;
  readonly #startedAt = now();
  #printsTime = false;
  #limit: Deadline;
  /** Set when the engine is stopped although the caller still waits for the result. */
  #stopReason: "limit" | "cut short" | undefined;
  #stopping: Deadline | undefined;
  /** Moves that were already validated, because an engine prints the same moves many times. */
  readonly #allowed = new Set<string>();

  constructor(transport: UciTransport, options: SearchOptions) {
    const { job, profile, optionLines, times, signal } = options;
    const { multipv, nodes, movetimeMs } = job;
    this.#transport = transport;
    this.#options = options;
    this.answer = this.#answer.promise;
    const moveCount = job.searchMoves.length || job.position.legalMoveCount;
    this.#fold = createSnapshotFold({
      lineCount: Math.min(multipv, moveCount),
      nodes,
      movetimeMs,
      reports: profile.reports,
    });
    this.#silence = watchSilence(transport, times, (silentMs) =>
      this.#kill("unresponsive", `no sign of life for ${silentMs} ms while searching`),
    );
    this.#limit = createDeadline(movetimeMs, () => this.#reachLimit());
    signal.addEventListener("abort", this.#stop, { once: true });
    transport.send(...optionLines, positionLine(job), goLine(job, movetimeMs + times.marginMs));
  }

  receive(line: UciLine): void {
    this.#silence.heard();
    if (line.kind === "info") {
      this.#receiveInfo(line.info);
    } else if (line.kind === "readyok") {
      this.#silence.answered();
    } else if (line.kind === "critical") {
      this.#kill("protocol_error", line.reason);
    } else if (line.kind === "bestmove" && this.#accept(line.move, line.ponder)) {
      this.#end();
      this.#options.onEnd(this.#silence.unanswered());
    }
  }

  #receiveInfo(info: Extract<UciLine, { kind: "info" }>["info"]): void {
    this.#printsTime ||= info.time !== undefined;
    const snapshot = this.#timed(this.#fold.add(info));
    if (snapshot && !this.#options.signal.aborted && this.#areAllowed(firstMovesOf(snapshot))) {
      this.#options.onProgress?.({ kind: "progress", snapshot });
    }
    if (this.#stopReason && this.#fold.final()) {
      this.#stop();
    }
  }

  /** Callers are charged for the time of a search. An engine may print no time, or a time that cannot be true. */
  #timed(snapshot: Snapshot | undefined): Snapshot | undefined {
    const elapsedMs = Math.ceil(now() - this.#startedAt);
    return snapshot && !(this.#printsTime && snapshot.counters.timeMs <= elapsedMs + clockToleranceMs)
      ? { ...snapshot, counters: { ...snapshot.counters, timeMs: elapsedMs } }
      : snapshot;
  }

  /** Returns false and kills the engine if a move is illegal, or if `searchMoves` does not contain the move. */
  #areAllowed(moves: readonly string[]): boolean {
    const { position, searchMoves } = this.#options.job;
    for (const move of moves) {
      const isNamed = searchMoves.length === 0 || searchMoves.includes(move);
      if (!this.#allowed.has(move) && !(isNamed && isLegal(position, move))) {
        const named = isNamed ? "" : `, or none of ${searchMoves.join(" ")}`;
        this.#kill("protocol_error", `${move} is not legal in ${position.fen}${named}`);
        return false;
      }
      this.#allowed.add(move);
    }
    return true;
  }

  #reachLimit(): void {
    this.#stopReason ??= "limit";
    if (this.#fold.final()) {
      this.#stop();
    } else {
      this.#limit = createDeadline(this.#options.times.stopMs, this.#stop);
    }
  }

  cutShort(): void {
    this.#stopReason = "cut short";
    if (this.#fold.final()) {
      this.#stop();
    }
  }

  /** Also called when the caller no longer waits. */
  readonly #stop = (): void => {
    if (this.#stopping) {
      return;
    }
    const { stopMs } = this.#options.times;
    this.#transport.send("stop");
    // The engine may print its unfinished iteration like a complete iteration.
    this.#fold.close();
    const beforeMs = this.#transport.processorMs();
    this.#stopping = createDeadline(stopMs, () => {
      const nowMs = this.#transport.processorMs();
      const usedMs = beforeMs === undefined || nowMs === undefined ? undefined : nowMs - beforeMs;
      const blamesPosition = usedMs === undefined || usedMs >= stopMs * overtimeShare;
      this.#kill("overtime", `no bestmove ${stopMs} ms after stop`, { blamesPosition });
    });
  };

  /** Settles `answer`. Returns false if the engine was killed because of an invalid answer. */
  #accept(bestMove: string | undefined, ponder: string | undefined): boolean {
    if (this.#options.signal.aborted) {
      // Accept any answer, because the engine may have been stopped before it had found a move.
      this.#answer.reject(this.#options.signal.reason);
      return true;
    }
    const snapshot = this.#timed(this.#fold.final());
    if (bestMove === undefined || !(snapshot || this.#stopReason)) {
      this.#kill("protocol_error", `bestmove ${bestMove ?? "(none)"} after ${snapshot ? "a" : "no"} line`);
      return false;
    }
    if (!snapshot) {
      // Do not kill the engine: the machine was slow, but the engine can run other searches.
      this.#answer.reject(new EngineFailure("overtime", "stopped before its first line"));
      return true;
    }
    if (!this.#areAllowed([bestMove, ...firstMovesOf(snapshot)])) {
      return false;
    }
    this.#answer.resolve({ kind: "done", snapshot, bestMove, ponder, endedBy: this.#endedBy(snapshot) });
    return true;
  }

  /**
   * The depth or the nodes ended the search only if the engine ended it without `stop`, and before the time limit by its own
   * clock and by the clock of this process. An engine that this process reads late may have reached its own `movetime`.
   * Do not compare the nodes, because Stockfish 19 sometimes does not print its last number of nodes.
   */
  #endedBy({ complete, depth, counters }: Snapshot): SearchDone["endedBy"] {
    const { job, profile } = this.#options;
    if (this.#stopReason === "cut short") {
      return "stop";
    }
    const tookMs = Math.max(counters.timeMs, now() - this.#startedAt);
    if (this.#stopReason || tookMs >= job.movetimeMs) {
      return "time";
    }
    if (complete && depth >= (job.depth ?? profile.deepest ?? Number.POSITIVE_INFINITY)) {
      return "depth";
    }
    if (job.nodes !== undefined) {
      return "nodes";
    }
    // An engine whose largest depth is unknown may end its search early, for example near a mate.
    return profile.deepest === undefined ? "depth" : "time";
  }

  /** The session ends the engine, and then calls `fail`. */
  #kill(...[kind, message, options]: ConstructorParameters<typeof EngineFailure>): void {
    this.#options.kill(new EngineFailure(kind, message, options));
  }

  fail(failure: EngineFailure): void {
    this.#answer.reject(failure);
    this.#end();
  }

  #end(): void {
    this.#options.signal.removeEventListener("abort", this.#stop);
    this.#silence.end();
    this.#limit.clear();
    this.#stopping?.clear();
  }
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
