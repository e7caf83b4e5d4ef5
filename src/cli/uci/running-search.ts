import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type {
  EvaluateResponse,
  StreamEvaluateResponse,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { Task } from "./task-of-go.ts";

/** The search of one `go` command. It reports its best move exactly once. */
export interface RunningSearch {
  /** Ends the search: reports the best move so far, or the first one that comes within a moment. */
  stop(): void;
  /** Ends the search: reports the best move before this function returns. */
  stopAtOnce(): void;
  /** Call this when the expected move was played. The clock starts. */
  ponderhit(): void;
  /** Call this when no more commands can come. Reports the best move at once, unless the search ends by itself. */
  close(): void;
}

interface SearchSetting {
  readonly task: Pick<Task, "time" | "waitsFor" | "mate" | "isBounded">;
  /** Starts the request. Yields complete iterations; the last one has a stop reason. */
  readonly watch: (signal: AbortSignal) => AsyncIterable<StreamEvaluateResponse>;
  /** Narrows the bounds to those that an error names. Returns true if the next request keeps within them. */
  readonly narrow: (refusal: KibitzError) => boolean;
  /** The move that is sent if a player needs a move and none was found; undefined if no move is legal. */
  readonly legalMove: string | undefined;
  /** Returns the number of moves to the mate, positive if the side to move mates; undefined if no mate was found. */
  readonly mateOf: (evaluation: EvaluateResponse) => number | undefined;
  readonly report: {
    evaluation(evaluation: EvaluateResponse): void;
    note(text: string): void;
    /** Reports the best move. Called once, after all other reports. */
    bestMove(best: string | undefined, ponder: string | undefined): void;
  };
}

/** The time to wait for a first move after `stop`, in milliseconds. The best move must be reported within 200. */
const firstMoveMs = 120;

const firstRetryMs = 200;
const retryMaxMs = 10_000;

/** For a search that neither a clock nor a command ends. The rate limits of most plans have windows of a minute. */
const triesMax = 6;
const patienceMaxMs = 60_000;

/**
 * The states of a search, which retries a failed request while it is `searching`:
 *
 *     searching ── last iteration, or a failure for good ──> ended ── stop, ponderhit ──> over
 *         └────── a clock, stop, a mate that was found, another go ──────────────────────> over
 *
 * If the best move need not wait for a command, `ended` becomes `over` at once.
 */
export function startSearch(setting: SearchSetting): RunningSearch {
  const { task, watch, narrow, legalMove, mateOf, report } = setting;
  const { time, mate } = task;
  let { waitsFor } = task;
  let state: "searching" | "ended" | "over" = "searching";
  let best: EvaluateResponse | undefined;
  /** True if the first move that is found ends the search. */
  let hurried = false;
  /** The time at which a failed request is retried; 0 if no retry is due. */
  let retryAt = 0;
  let clock: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  const leaving = new AbortController();

  function finish(): void {
    if (state === "over") {
      return;
    }
    const isUnderWay = state === "searching";
    state = "over";
    clearTimeout(clock);
    clearTimeout(retry);
    report.bestMove(best?.bestMove?.uci ?? moveInstead(), best?.ponder?.uci);
    if (isUnderWay) {
      leaving.abort();
    }
  }

  /** A legal move if a clock runs or the game is drawn. None in an analysis, because an unsearched move would mislead. */
  function moveInstead(): string | undefined {
    const isDrawn = best?.search?.stopReason === StopReason.TERMINAL;
    if (legalMove === undefined || (time === undefined && !isDrawn)) {
      return undefined;
    }
    report.note(`no move was found: ${legalMove} is only the first that is legal`);
    return legalMove;
  }

  /** Reports the best move so far, or the first one that comes in time. */
  function hurry(withinMs: number): void {
    if (best !== undefined || state !== "searching" || retryAt > performance.now() + withinMs) {
      finish();
      return;
    }
    hurried = true;
    clearTimeout(clock);
    clock = setTimeout(finish, withinMs);
  }

  function startClock(): void {
    if (time !== undefined) {
      clock = setTimeout(() => hurry(time.lastMs - time.answerByMs), time.answerByMs);
    }
  }

  function take({ case: kind, value }: StreamEvaluateResponse["event"]): void {
    if (kind !== "evaluation") {
      return;
    }
    // Skip the depths that a retried search repeats.
    if (best === undefined || depthOf(value) >= depthOf(best)) {
      best = value;
      report.evaluation(value);
    }
    if (hurried || (waitsFor === undefined && hasMate(value))) {
      finish();
    } else if (value.search?.stopReason !== undefined) {
      end();
    }
  }

  function hasMate(evaluation: EvaluateResponse): boolean {
    const moves = mateOf(evaluation);
    return mate !== undefined && moves !== undefined && moves > 0 && moves <= mate;
  }

  /** Call this when the search has ended by itself, or has failed for good. */
  function end(): void {
    state = "ended";
    if (mate !== undefined && !(best && hasMate(best))) {
      report.note(`no mate in ${mate} was found`);
    }
    if (waitsFor === undefined) {
      finish();
    } else {
      report.note(`the search has ended: the best move waits for ${waitsFor}`);
    }
  }

  /** Undefined if a retry is useless. An error that did not come from the service can be retried. */
  function waitOf(error: unknown, failures: number): number | undefined {
    const { retryable = true, retryAfterMs = 0 } = error instanceof KibitzError ? error : {};
    const waitMs = Math.max(retryAfterMs, Math.min(firstRetryMs * 2 ** (failures - 1), retryMaxMs));
    const isEndedBySomething = waitsFor !== undefined || time !== undefined;
    const isPatient = isEndedBySomething || (failures < triesMax && waitMs <= patienceMaxMs);
    return retryable && isPatient ? waitMs : undefined;
  }

  async function search(): Promise<void> {
    for (let failures = 0; state === "searching"; ) {
      try {
        for await (const { event } of watch(leaving.signal)) {
          if (state === "searching") {
            take(event);
          }
        }
        if (state === "searching") {
          end();
        }
      } catch (error) {
        if (state !== "searching" || (error instanceof KibitzError && narrow(error))) {
          continue;
        }
        failures++;
        const waitMs = waitOf(error, failures);
        const message = error instanceof Error ? error.message : String(error);
        report.note(waitMs === undefined ? message : `${message}; retrying in ${waitMs} ms`);
        if (waitMs === undefined) {
          end();
          return;
        }
        retryAt = performance.now() + waitMs;
        await new Promise<void>((resolve) => {
          retry = setTimeout(resolve, waitMs);
        });
        retryAt = 0;
      }
    }
  }

  if (waitsFor === undefined) {
    startClock();
  }
  void search();

  return {
    stop: () => hurry(firstMoveMs),
    stopAtOnce: finish,
    ponderhit() {
      if (waitsFor !== "ponderhit") {
        return;
      }
      waitsFor = undefined;
      if (state === "ended") {
        finish();
      } else if (state === "searching") {
        startClock();
      }
    },
    close() {
      if (waitsFor !== undefined || !task.isBounded) {
        finish();
      }
    },
  };
}

/** Returns the depth of an evaluation in plies; 0 if the game is over. */
function depthOf({ search }: EvaluateResponse): number {
  return search?.depth ?? 0;
}
