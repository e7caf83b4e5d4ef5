import { isLegal } from "../../chess/notation.ts";
import { EngineFailure, type OnProgress, type SearchDone, type SearchJob, type Snapshot } from "../engine.ts";
import type { UciLine } from "./parse-line.ts";
import { createSnapshotFold } from "./snapshot.ts";
import type { UciTransport } from "./transport.ts";
import { createDeadline, type Deadline, type WatchTimes } from "./watch.ts";

/** One search on one engine, from `go` to `bestmove`, watched by the clock. */
export interface UciSearch {
  /** Takes a line that the engine printed. */
  receive(line: UciLine): void;
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
 * Sends `go`, behind lines that belong before it, and watches. An engine is killed, through `kill`, when it
 * - says that it refuses the position,
 * - is silent and does not answer `isready` either (an engine that searches must), or is seen to be suspended,
 * - has not ended some time after it was told to stop, because its limit has passed or its caller has left.
 */
export function startSearch(
  transport: UciTransport,
  before: readonly string[],
  job: SearchJob,
  times: WatchTimes,
  kill: (failure: EngineFailure) => void,
  onProgress: OnProgress,
): UciSearch {
  const lineCount = Math.min(job.multipv, job.position.legalMoveCount);
  const fold = createSnapshotFold({ lineCount, movetimeMs: job.movetimeMs });
  const answer = Promise.withResolvers<SearchDone>();
  const ended = Promise.withResolvers<void>();
  let lastWordAt = performance.now();
  let left = false;
  let over = false;
  let cut = false;

  /** Set while the engine owes a sign of life. */
  let asked: Deadline | undefined;
  const listen = setInterval(() => {
    if (asked !== undefined || performance.now() - lastWordAt < times.silenceMs) {
      return;
    }
    const deaf = () => {
      const silentMs = Math.round(performance.now() - lastWordAt);
      failAndKill("deaf", `no sign of life for ${silentMs} ms while searching`);
    };
    if (transport.suspended()) {
      // It will not answer: another engine can begin at once.
      deaf();
      return;
    }
    asked = createDeadline(times.deafMs, deaf);
    transport.send("isready");
  }, times.silenceMs / 2);
  const late = createDeadline(job.movetimeMs + times.lateMs, stop);
  let stopping: Deadline | undefined;

  transport.send(...before, `go depth ${job.depth} movetime ${job.movetimeMs}`);

  function stop() {
    // A search that is over needs no stop, and its engine may be searching for somebody else by now.
    if (over || stopping) {
      return;
    }
    if (transport.suspended()) {
      // It will not hear it: another engine can begin at once.
      failAndKill("overran", "suspended when it was to stop");
      return;
    }
    transport.send("stop");
    stopping = createDeadline(times.stopMs, () =>
      failAndKill("overran", `no bestmove ${times.stopMs} ms after stop`),
    );
  }

  /** Stopped before its first line, an engine has a move and no score: no answer for anybody. */
  function stopIfAnswerable() {
    if (cut && fold.final()) {
      stop();
    }
  }

  function finish() {
    over = true;
    clearInterval(listen);
    asked?.clear();
    late.clear();
    stopping?.clear();
    ended.resolve();
  }

  function failAndKill(kind: "deaf" | "overran" | "confused", message: string) {
    const failure =
      kind !== "confused" && transport.suspended()
        ? new EngineFailure("suspended", "the engine was suspended from outside")
        : new EngineFailure(kind, message);
    kill(failure);
  }

  /** Moves that were found legal: an engine says the same few again and again. */
  const legal = new Set<string>();

  function firstIllegal(moves: readonly string[]): string | undefined {
    return moves.find((move) => {
      if (!legal.has(move) && isLegal(job.position, move)) {
        legal.add(move);
      }
      return !legal.has(move);
    });
  }

  function tellProgress(snapshot: Snapshot) {
    const illegal = firstIllegal(firstMovesOf(snapshot));
    if (illegal === undefined) {
      onProgress({ kind: "progress", snapshot });
    } else {
      failAndKill("confused", `${illegal} is not legal in ${job.position.fen}`);
    }
  }

  function done(bestMove: string | undefined, ponder: string | undefined) {
    if (left) {
      // Stopped before its first line, an engine may have no move: that is no fault then.
      finish();
      return;
    }
    const snapshot = fold.final();
    if (bestMove === undefined || snapshot === undefined) {
      failAndKill("confused", `bestmove ${bestMove ?? "(none)"} after ${snapshot ? "a line" : "no line"}`);
      return;
    }
    const illegal = firstIllegal([bestMove, ...firstMovesOf(snapshot)]);
    if (illegal !== undefined) {
      failAndKill("confused", `${illegal} is not legal in ${job.position.fen}`);
      return;
    }
    const reached = snapshot.complete && snapshot.depth >= job.depth;
    const endedBy = reached ? "depth" : cut ? "stop" : "time";
    answer.resolve({ kind: "done", snapshot, bestMove, ponder, endedBy });
    finish();
  }

  return {
    answer: answer.promise,
    ended: ended.promise,
    leave(reason) {
      left = true;
      answer.reject(reason);
      stop();
    },
    cutShort() {
      cut = true;
      fold.close();
      stopIfAnswerable();
    },
    lose(failure) {
      answer.reject(failure);
      finish();
    },
    receive(line) {
      if (over) {
        if (line.kind === "bestmove") {
          failAndKill("confused", "a second bestmove");
        }
        return;
      }
      lastWordAt = performance.now();
      asked?.clear();
      asked = undefined;
      if (line.kind === "info") {
        const snapshot = fold.add(line.info);
        if (snapshot && !left) {
          tellProgress(snapshot);
        }
        stopIfAnswerable();
      } else if (line.kind === "bestmove") {
        done(line.move, line.ponder);
      } else if (line.kind === "critical") {
        failAndKill("confused", line.reason);
      }
    },
  };
}

function firstMovesOf({ lines }: Snapshot): readonly string[] {
  return lines.flatMap(({ moves }) => moves.slice(0, 1));
}
