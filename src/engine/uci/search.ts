import { EngineFailure, type SearchDone, type SearchEvent, type SearchJob } from "../engine.ts";
import { createLatest } from "../latest.ts";
import type { UciLine } from "./parse-line.ts";
import { createSnapshotFold } from "./snapshot.ts";
import type { UciTransport } from "./transport.ts";
import type { WatchTimes } from "./watch-times.ts";

/** One search on one engine, from `go` to `bestmove`, watched by the clock. */
export interface UciSearch {
  /** Takes a line that the engine printed. */
  receive(line: UciLine): void;
  /** The caller takes no more states: `events` fails with the reason, the engine is told to stop and killed if it does not. */
  leave(reason: unknown): void;
  /** The engine is gone. */
  lose(failure: EngineFailure): void;
  /** States, then the end; for one reader. */
  readonly events: AsyncIterable<SearchEvent>;
  /** Resolves when the engine is free again or gone. Never rejects. */
  readonly ended: Promise<void>;
}

/**
 * Sends `go` and watches. An engine is killed, through `kill`, when it
 * - says that it refuses the position,
 * - is silent and does not answer `isready` either (an engine that searches must),
 * - has not ended by its limit and a grace, with and then without being asked to stop.
 */
export function startSearch(
  transport: UciTransport,
  job: SearchJob,
  times: WatchTimes,
  kill: (failure: EngineFailure) => void,
): UciSearch {
  const lineCount = Math.min(job.multipv, job.position.legalMoveCount);
  const fold = createSnapshotFold({ lineCount, movetimeMs: job.movetimeMs });
  const events = createLatest<SearchEvent>();
  const ended = Promise.withResolvers<void>();
  let lastWordAt = performance.now();
  let askedAt: number | undefined;

  const clock = setInterval(() => {
    const now = performance.now();
    if (askedAt !== undefined && now - askedAt >= times.deafMs) {
      failAndKill("deaf", `no sign of life for ${Math.round(now - lastWordAt)} ms while searching`);
    } else if (askedAt === undefined && now - lastWordAt >= times.silenceMs) {
      askedAt = now;
      transport.send("isready");
    }
  }, times.silenceMs / 2);
  const late = setTimeout(stop, job.movetimeMs + times.lateMs);
  const overrun = setTimeout(
    () => failAndKill("overran", `no bestmove ${times.overrunMs} ms after the limit of ${job.movetimeMs} ms`),
    job.movetimeMs + times.overrunMs,
  );
  let stopped: NodeJS.Timeout | undefined;

  transport.send(`go depth ${job.depth} movetime ${job.movetimeMs}`);

  function stop() {
    if (stopped === undefined) {
      transport.send("stop");
      stopped = setTimeout(
        () => failAndKill("overran", `no bestmove ${times.stopMs} ms after stop`),
        times.stopMs,
      );
    }
  }

  function finish(end: () => void) {
    clearInterval(clock);
    clearTimeout(late);
    clearTimeout(overrun);
    clearTimeout(stopped);
    end();
    ended.resolve();
  }

  function failAndKill(kind: "deaf" | "overran" | "confused", message: string) {
    const failure =
      kind !== "confused" && transport.suspended()
        ? new EngineFailure("suspended", "the engine was suspended from outside")
        : new EngineFailure(kind, message);
    kill(failure);
  }

  function done(bestMove: string | undefined, ponder: string | undefined) {
    const snapshot = fold.final();
    if (bestMove === undefined || snapshot === undefined) {
      failAndKill("confused", `bestmove ${bestMove ?? "(none)"} after ${snapshot ? "a line" : "no line"}`);
      return;
    }
    const endedBy = snapshot.complete && snapshot.depth >= job.depth ? "depth" : "time";
    const last: SearchDone = { kind: "done", snapshot, bestMove, ponder, endedBy };
    finish(() => {
      events.push(last);
      events.end();
    });
  }

  return {
    events,
    ended: ended.promise,
    leave(reason) {
      events.fail(reason);
      stop();
    },
    lose: (failure) => finish(() => events.fail(failure)),
    receive(line) {
      lastWordAt = performance.now();
      askedAt = undefined;
      if (line.kind === "info") {
        const snapshot = fold.add(line.info);
        if (snapshot) {
          events.push({ kind: "progress", snapshot });
        }
      } else if (line.kind === "bestmove") {
        done(line.move, line.ponder);
      } else if (line.kind === "critical") {
        failAndKill("confused", line.reason);
      }
    },
  };
}
