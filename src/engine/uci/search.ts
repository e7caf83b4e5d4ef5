import { isLegal } from "../../chess/moves.ts";
import { assertMayFollow, type Transitions } from "../../errors/errors.ts";
import { type Audience, EngineFailure, type SearchDone, type SearchJob, type Snapshot } from "../engine.ts";
import { createSearchLines, parseLine } from "./parse-line.ts";
import type { UciTransport } from "./transport.ts";
import { createDeadline, type Deadline, type WatchTimes, watchSilence } from "./watch.ts";

/** One search on one engine, from `go` to `bestmove`, watched by the clock. */
export interface UciSearch {
  /** Whether its caller still waits for an answer. */
  isWanted(): boolean;
  /** Takes a line that the engine printed. */
  receive(text: string): void;
  /**
   * The caller wants no answer any more: `answer` fails with the reason, the engine is told to stop and killed
   * if it does not. What it says then interests nobody.
   */
  leave(reason: unknown): void;
  /** Ends the search as if its time were up. */
  cutShort(): void;
  /** The engine is gone. */
  lose(failure: EngineFailure): void;
  readonly answer: Promise<SearchDone>;
  /** Resolves when the engine is free again or gone. Never rejects. */
  readonly ended: Promise<void>;
}

/**
 * How far a search is:
 *
 *     searching ──limit passed or cut short, no line yet──▶ cutting
 *         │                                                  │ its first line,
 *         │ limit passed, cut short, left                    │ its time is up, left
 *         └──────────────▶ stopping ◀────────────────────────┘
 *                           ⟲ cut short, left
 *
 *     each of these ──bestmove, or the engine is gone──▶ over
 */
type SearchState =
  | { readonly kind: "searching" }
  /** Stopped at its first line: before that an engine has a move without a score, which answers nobody. */
  | { readonly kind: "cutting"; readonly because: "limit" | "cut short"; readonly by: Deadline | undefined }
  /** `stop` was sent, and the engine owes its bestmove. */
  | { readonly kind: "stopping"; readonly because: "limit" | "cut short" | "left"; readonly by: Deadline }
  | { readonly kind: "over" };

const transitions: Transitions<SearchState["kind"]> = {
  searching: ["cutting", "stopping", "over"],
  cutting: ["stopping", "over"],
  stopping: ["stopping", "over"],
  over: [],
};

/** Plies, where Stockfish ends of itself: it gets there in milliseconds where a mate or a draw is near. */
const deepest = 245;

/**
 * Share of the time for stopping in which an engine must have run to be told from one that the machine did not let run. WASM
 * engines read their input every 46 ms, native ones at every node.
 */
const overrunShare = 0.25;

/**
 * Sends position and `go`, behind lines that belong before them, and watches. An engine is killed, through `kill`, when
 * it
 * - says that it refuses the position,
 * - is silent and does not answer `isready` either (an engine that searches must),
 * - has not ended some time after it was told to stop, because its limit has passed or its caller has left.
 *
 * @param kill ends the engine: the search is lost then, before this returns.
 */
export function startSearch(
  transport: UciTransport,
  before: readonly string[],
  job: SearchJob,
  times: WatchTimes,
  kill: (failure: EngineFailure) => void,
  [onProgress, wanted]: Audience,
): UciSearch {
  const { position, nodes, movetimeMs, searchMoves } = job;
  const moveCount = searchMoves.length || position.legalMoveCount;
  const lines = createSearchLines({ lineCount: Math.min(job.multipv, moveCount), nodes, movetimeMs });
  const startedAt = performance.now();
  /** Whether lines are read as they come. Nobody may want to know what they say, or not yet. */
  let reads = onProgress !== undefined && wanted === undefined;
  void wanted?.then(() => {
    if (!reads) {
      beginToRead();
    }
  });
  const answer = Promise.withResolvers<SearchDone>();
  const ended = Promise.withResolvers<void>();
  let state: SearchState = { kind: "searching" };
  const silence = watchSilence(transport, times, (silentMs) =>
    failAndKill("unresponsive", `no sign of life for ${silentMs} ms while searching`),
  );
  const late = createDeadline(movetimeMs + times.lateMs, () => endByLimit());

  transport.send(...before, positionLine(job), goLine(job));

  function move(next: SearchState) {
    assertMayFollow(transitions, state.kind, next.kind);
    state = next;
  }

  function isLeft() {
    return state.kind === "stopping" && state.because === "left";
  }

  function isCutShort() {
    return (state.kind === "cutting" || state.kind === "stopping") && state.because === "cut short";
  }

  /** Gives an engine without a line some more time for its first one. */
  function endByLimit() {
    if (state.kind !== "searching" || lines.final() !== undefined) {
      stop("limit");
      return;
    }
    reads = true;
    move({ kind: "cutting", because: "limit", by: createDeadline(times.stopMs, () => stop("limit")) });
  }

  function stop(because: "limit" | "cut short" | "left") {
    switch (state.kind) {
      case "searching":
      case "cutting": {
        if (state.kind === "cutting") {
          state.by?.clear();
        }
        transport.send("stop");
        const beforeMs = transport.processorMs();
        move({
          kind: "stopping",
          because: isCutShort() && because === "limit" ? "cut short" : because,
          by: createDeadline(times.stopMs, () => overrun(beforeMs)),
        });
        return;
      }
      case "stopping":
        // It was told so, and its time runs.
        if (!isLeft() && because !== "limit") {
          move({ ...state, because });
        }
        return;
      case "over":
        // Its engine may be searching for somebody else by now.
        return;
    }
  }

  function finish() {
    if (state.kind === "stopping" || state.kind === "cutting") {
      state.by?.clear();
    }
    silence.end();
    late.clear();
    move({ kind: "over" });
    ended.resolve();
  }

  function failAndKill(kind: "unresponsive" | "protocol_error", message: string) {
    kill(new EngineFailure(kind, message));
  }

  /** The position is to blame if the engine had the processor long enough to see `stop`, and ignored it. */
  function overrun(beforeMs: number | undefined) {
    const nowMs = transport.processorMs();
    const usedMs = beforeMs === undefined || nowMs === undefined ? undefined : nowMs - beforeMs;
    const blamesPosition = usedMs === undefined || usedMs >= times.stopMs * overrunShare;
    kill(new EngineFailure("overtime", `no bestmove ${times.stopMs} ms after stop`, { blamesPosition }));
  }

  /** Moves that were found to be legal and asked for: an engine says the same few again and again. */
  const sound = new Set<string>();

  /** Where one is not, the engine is ended. */
  function areSound(moves: readonly string[]): boolean {
    for (const move of moves) {
      const isAsked = searchMoves.length === 0 || searchMoves.includes(move);
      if (!sound.has(move) && !(isAsked && isLegal(position, move))) {
        const asked = isAsked ? "" : `, or none of ${searchMoves.join(" ")}`;
        failAndKill("protocol_error", `${move} is not legal in ${position.fen}${asked}`);
        return false;
      }
      sound.add(move);
    }
    return true;
  }

  /** From now on each line, and at once those that were kept. */
  function beginToRead() {
    reads = true;
    const newest = lines.readKept();
    if (newest && state.kind !== "over") {
      tellProgress(newest);
    }
  }

  function tellProgress(snapshot: Snapshot) {
    if (!isLeft() && areSound(firstMovesOf(snapshot))) {
      onProgress?.({ kind: "progress", snapshot });
    }
  }

  function endOf({ complete, depth }: Snapshot): SearchDone["endedBy"] {
    if (complete && depth >= (job.depth ?? deepest)) {
      return "depth";
    }
    if (isCutShort()) {
      return "stop";
    }
    // Stockfish 19 keeps the last count to itself where its move loses. So it is the clock that tells: where ours has time
    // left, the engine's, which began later, has ended nothing.
    const inTime = state.kind === "searching" && performance.now() - startedAt < movetimeMs;
    return nodes !== undefined && inTime ? "nodes" : "time";
  }

  function done(bestMove: string | undefined, ponder: string | undefined) {
    if (isLeft()) {
      // Stopped before its first line, an engine may have no move: that is no fault then.
      finish();
      return;
    }
    const snapshot = lines.final();
    if (bestMove !== undefined && snapshot === undefined && state.kind !== "searching") {
      // An engine that is stopped before its first line has a move without a score. The machine was slow; the engine is fine.
      answer.reject(new EngineFailure("overtime", "stopped before its first line"));
      finish();
      return;
    }
    if (bestMove === undefined || snapshot === undefined) {
      failAndKill(
        "protocol_error",
        `bestmove ${bestMove ?? "(none)"} after ${snapshot ? "a line" : "no line"}`,
      );
      return;
    }
    if (areSound([bestMove, ...firstMovesOf(snapshot)])) {
      answer.resolve({ kind: "done", snapshot, bestMove, ponder, endedBy: endOf(snapshot) });
      finish();
    }
  }

  return {
    answer: answer.promise,
    ended: ended.promise,
    // No getter: V8 gives each object that has one a shape of its own, which keeps what it sees until the whole heap is collected.
    isWanted: () => state.kind !== "over" && !isLeft(),
    leave(reason) {
      answer.reject(reason);
      stop("left");
    },
    cutShort() {
      if (!reads) {
        beginToRead();
      }
      lines.close();
      if (state.kind === "searching" && lines.final() === undefined) {
        move({ kind: "cutting", because: "cut short", by: undefined });
      } else if (state.kind !== "cutting") {
        stop("cut short");
      }
    },
    lose(failure) {
      answer.reject(failure);
      if (state.kind !== "over") {
        finish();
      }
    },
    receive(text) {
      // Most of all that an engine prints.
      if (!reads && state.kind !== "over" && text.startsWith("info depth ")) {
        silence.heard();
        lines.keep(text);
        return;
      }
      const line = parseLine(text);
      if (state.kind === "over") {
        if (line.kind === "bestmove") {
          failAndKill("protocol_error", "a second bestmove");
        }
        return;
      }
      silence.heard();
      if (line.kind === "info" && !reads) {
        lines.keep(text);
      } else if (line.kind === "info") {
        const snapshot = lines.add(line.info);
        if (snapshot) {
          tellProgress(snapshot);
        }
        if (state.kind === "cutting" && lines.final()) {
          stop(state.because);
        }
      } else if (line.kind === "bestmove") {
        done(line.move, line.ponder);
      } else if (line.kind === "critical") {
        failAndKill("protocol_error", line.reason);
      }
    },
  };
}

function positionLine({ position }: SearchJob): string {
  const moves = position.moves.length > 0 ? ` moves ${position.moves.join(" ")}` : "";
  return `position fen ${position.root}${moves}`;
}

/** Moves come last: engines take all that follows for one. */
function goLine({ depth, nodes, movetimeMs, searchMoves }: SearchJob): string {
  const plies = depth === undefined ? "" : ` depth ${depth}`;
  const visits = nodes === undefined ? "" : ` nodes ${nodes}`;
  const moves = searchMoves.length === 0 ? "" : ` searchmoves ${searchMoves.join(" ")}`;
  return `go${plies}${visits} movetime ${movetimeMs}${moves}`;
}

function firstMovesOf({ lines }: Snapshot): readonly string[] {
  return lines.flatMap(({ moves }) => moves.slice(0, 1));
}
