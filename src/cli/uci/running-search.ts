import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type {
  EvaluateResponse,
  StreamEvaluateResponse,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { bestMoveFromTablebase } from "../../analysis/analysis.ts";
import { KibitzError } from "../../errors/errors.ts";
import { after, now, type Timer } from "../../time/time.ts";
import type { Task } from "./task-of-go.ts";

/** The search for one `go` command. Reports the best move exactly once. */
export interface RunningSearch {
  /** True if the search ends without a further command. */
  readonly isBounded: boolean;
  /** Reports the best move. Waits briefly for a first move if no move is known yet. */
  stop(): void;
  /** Reports the best move before this function returns. */
  stopAtOnce(): void;
  /** Starts the clock, because the opponent has played the expected move. */
  ponderhit(): void;
  /** Call this when the input has ended. Ends a search that only a further command would end. */
  close(): void;
}

interface SearchSetting {
  readonly task: Pick<Task, "time" | "waitsFor" | "mate" | "isBounded">;
  /** Yields a message for each complete iteration. The last message has a stop reason. */
  readonly watch: (signal: AbortSignal) => AsyncIterable<StreamEvaluateResponse>;
  /** Reduces the limits of the search to the limits that the error names. Returns true if a limit was reduced. */
  readonly narrow: (refusal: KibitzError) => boolean;
  /** The move to send if the search finds no move in time. Undefined if no move is legal. */
  readonly legalMove: string | undefined;
  /** Returns the number of moves to mate, positive if the side to move mates. Undefined if no mate was found. */
  readonly mateOf: (evaluation: EvaluateResponse) => number | undefined;
  readonly report: {
    evaluation(evaluation: EvaluateResponse): void;
    note(text: string): void;
    bestMove(best: string | undefined, ponder: string | undefined): void;
  };
}

/** Milliseconds to wait for a first move after `stop`. The best move must be reported within 200 ms. */
const firstMoveMs = 120;

const firstRetryMs = 200;
const retryMaxMs = 10_000;

/** The maximum number of attempts if the search has no clock and waits for no command. */
const triesMax = 6;
const patienceMaxMs = 60_000;

/**
 * The states of a search:
 * - `searching`: the service is searching, or a failed request will be retried.
 * - `ended`: the best move is known, but the chess program must first send `stop` or `ponderhit`.
 * - `over`: the best move was sent.
 */
export function startSearch(setting: SearchSetting): RunningSearch {
  const { task, watch, narrow, legalMove, mateOf, report } = setting;
  const { time, mate } = task;
  let { waitsFor } = task;
  let state: "searching" | "ended" | "over" = "searching";
  let best: EvaluateResponse | undefined;
  let endsAtFirstMove = false;
  /** The latest time for a first move on the clock `now()`. A second `stop` does not prolong this time. */
  let firstMoveBy = Number.POSITIVE_INFINITY;
  /** The time of the next retry on the clock `now()`. 0 if no retry is planned. */
  let retryAt = 0;
  let clock: Timer | undefined;
  let retry: Timer | undefined;
  const leaving = new AbortController();

  function finish(): void {
    if (state === "over") {
      return;
    }
    const isUnderWay = state === "searching";
    state = "over";
    clock?.cancel();
    retry?.cancel();
    for (const { message } of best?.warnings.filter(({ code }) => code === bestMoveFromTablebase) ?? []) {
      report.note(message);
    }
    report.bestMove(best?.bestMove?.uci ?? moveInstead(), best?.ponder?.uci);
    if (isUnderWay) {
      leaving.abort();
    }
  }

  /**
   * Called if the search found no move. With a clock or in a drawn game, returns any legal move. In an analysis, returns
   * undefined, because an unsearched move would be misleading.
   */
  function moveInstead(): string | undefined {
    const isDrawn = best?.search?.stopReason === StopReason.TERMINAL;
    if (legalMove === undefined || (time === undefined && !isDrawn)) {
      return undefined;
    }
    report.note(`no move was found: ${legalMove} is only the first that is legal`);
    return legalMove;
  }

  /** Reports the best move. If no move is known yet, waits up to `withinMs` for a move. */
  function hurry(withinMs: number): void {
    if (best !== undefined || state !== "searching" || retryAt > now() + withinMs) {
      finish();
      return;
    }
    endsAtFirstMove = true;
    const by = now() + withinMs;
    if (by >= firstMoveBy) {
      return;
    }
    firstMoveBy = by;
    clock?.cancel();
    clock = after(withinMs, finish);
  }

  function startClock(): void {
    if (time !== undefined) {
      clock = after(time.answerByMs, () => hurry(time.lastMs - time.answerByMs));
    }
  }

  function take({ case: kind, value }: StreamEvaluateResponse["event"]): void {
    if (kind !== "evaluation") {
      return;
    }
    // Ignore depths that were already reached before the retry.
    if (best === undefined || depthOf(value) >= depthOf(best)) {
      best = value;
      report.evaluation(value);
    }
    if (endsAtFirstMove || (waitsFor === undefined && hasMate(value))) {
      finish();
    } else if (value.search?.stopReason !== undefined) {
      end();
    }
  }

  function hasMate(evaluation: EvaluateResponse): boolean {
    const moves = mateOf(evaluation);
    return mate !== undefined && moves !== undefined && moves > 0 && moves <= mate;
  }

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

  /** Returns undefined if a retry is useless, or after too many attempts. */
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
        retryAt = now() + waitMs;
        await new Promise<void>((resolve) => {
          retry = after(waitMs, resolve);
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
    get isBounded() {
      return waitsFor === undefined && task.isBounded;
    },
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
      if (!this.isBounded) {
        finish();
      }
    },
  };
}

function depthOf({ search }: EvaluateResponse): number {
  return search?.depth ?? 0;
}
