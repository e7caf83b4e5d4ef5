import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type {
  EvaluateResponse,
  StreamEvaluateResponse,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { SearchLimits, SearchService } from "./search-service.ts";
import { shortestMs, type Task, widestBounds } from "./task-of-go.ts";

/** The search of one `go`. It says its best move exactly once. */
export interface RunningSearch {
  /** Says the best move so far, or the first that comes within a moment. */
  stop(): void;
  /** Says the best move before it returns. */
  stopAtOnce(): void;
  /** The expected move was played: the clock starts. */
  ponderhit(): void;
}

export interface SearchSetting {
  /** Starts the request with these limits, which may be less than the first ones. */
  readonly watch: (limits: SearchLimits, signal: AbortSignal) => ReturnType<SearchService["watch"]>;
  readonly task: Task;
  /** A task within the bounds that a refusal names; undefined if the refusal names none, and the search has failed. */
  readonly retask: (error: KibitzError) => Task | undefined;
  /** Played against a clock if no move was found; undefined if none is legal. */
  readonly fallback: { readonly move: string; readonly why: string } | undefined;
  /** Moves to the mate, + if the side to move mates; undefined if no mate was found. */
  readonly mateOf: (evaluation: EvaluateResponse) => number | undefined;
  readonly report: SearchReport;
}

interface SearchReport {
  evaluation(evaluation: EvaluateResponse): void;
  note(text: string): void;
  /** Called once, and last. */
  bestMove(best: string | undefined, ponder: string | undefined): void;
}

/** After `stop`, how long to wait for a first move, in milliseconds: the best move must be said within 200. */
const firstMoveMs = 120;

/** Longest silence of the service beyond the time of a search, in milliseconds. */
const silenceMs = 15_000;

/** Most tries without a clock, and the backoff between them in milliseconds if the service names no time. */
const triesMax = 6;
const firstRetryMs = 200;
const retryMaxMs = 10_000;

/** Longest wait without a clock, in milliseconds: the window of a plan's requests is mostly a minute. */
const patienceMaxMs = 60_000;

/** A retry must leave at least so many milliseconds of the move's time. */
const worthwhileMs = 100;

/** A search that should have ended by itself is cancelled so many milliseconds after its time. */
const lateMs = 500;

/** The shortest wait for an engine that is reported, in milliseconds. */
const longWaitMs = 1000;

/** How the stop reasons of complete searches are reported. */
const reasons: Readonly<Partial<Record<StopReason, string>>> = {
  [StopReason.DEPTH]: "the depth was reached",
  [StopReason.NODES]: "the nodes were visited, as many as may be asked for",
  [StopReason.TERMINAL]: "the game is over",
};
const timeIsOver = "the time is over, the longest that may be asked for";

export function startSearch(setting: SearchSetting): RunningSearch {
  const { watch, retask, fallback, mateOf, report } = setting;
  let { task } = setting;
  const { time, mate } = task;
  let { waitsFor } = task;
  /** `waiting`: the search has ended, and its best move waits for `stop` or `ponderhit`. */
  let state: "searching" | "waiting" | "over" = "searching";
  let best: EvaluateResponse | undefined;
  /** Why the search ended by itself; undefined until it does. */
  let stopReason: StopReason | undefined;
  /** True if the first move that is found is the answer. */
  let hurried = false;
  /** When the best move must be said, and when any move must be. */
  let answerByAt = Number.POSITIVE_INFINITY;
  let lastAt = Number.POSITIVE_INFINITY;
  /** When the request under way ends by its own time. */
  let endsAt = Number.POSITIVE_INFINITY;
  /** When a failed request is retried; 0 if no retry is due. */
  let retryAt = 0;
  /** True if the last request failed. */
  let hasFailed = false;
  const noted = new Set<string>();
  const leaving = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  let silence: NodeJS.Timeout | undefined;

  const after = (ms: number, act: () => void) => void timers.add(setTimeout(act, ms));

  function finish(): void {
    if (state === "over") {
      return;
    }
    state = "over";
    for (const timer of timers) {
      clearTimeout(timer);
    }
    clearTimeout(silence);
    const move = best?.bestMove?.uci;
    if (hasFailed && time !== undefined && move !== undefined) {
      report.note(`the search was cut off: ${move} is the best move so far, at depth ${best?.search?.depth}`);
    }
    report.bestMove(move ?? moveInstead(), best?.ponder?.uci);
    leave();
  }

  /** A player needs a move before the clock runs out. In an analysis, a move that nobody searched would mislead. */
  function moveInstead(): string | undefined {
    if (fallback === undefined) {
      return undefined;
    }
    const { move, why } = fallback;
    if (stopReason === StopReason.TERMINAL) {
      report.note(`the game is drawn by the rules: ${move} ${why}`);
      return move;
    }
    if (time === undefined) {
      report.note("no move was found, and no clock asks for one");
      return undefined;
    }
    report.note(`no move was found: ${move} ${why}`);
    return move;
  }

  /** Cancels the request, unless it has ended by itself or is about to: a search that is stopped frees its engine later. */
  function leave(): void {
    if (stopReason === undefined && performance.now() < endsAt) {
      leaving.abort();
    } else if (stopReason === undefined) {
      setTimeout(() => leaving.abort(), lateMs).unref();
    }
  }

  /** Says the best move so far, or the first that comes. */
  function hurry(withinMs: number): void {
    if (best !== undefined || state !== "searching" || retryAt > performance.now() + withinMs) {
      finish();
      return;
    }
    hurried = true;
    after(withinMs, finish);
  }

  function startClock(): void {
    if (time === undefined) {
      return;
    }
    const { searchMs, answerByMs, lastMs } = time;
    const now = performance.now();
    answerByAt = now + answerByMs;
    lastAt = now + lastMs;
    // The service keeps the time of the search itself, unless the time was not known when the request was sent.
    const isKeptHere = task.waitsFor === "ponderhit";
    after(isKeptHere ? searchMs : answerByMs, () => hurry(Math.max(0, now + lastMs - performance.now())));
  }

  function watchSilence(): void {
    clearTimeout(silence);
    const ms = silenceMs + (task.limits.movetimeMs ?? widestBounds.movetimeMs);
    silence = setTimeout(() => {
      report.note(`there was no word for ${Math.round(ms / 1000)} s`);
      end();
    }, ms);
  }

  function reportTask(): void {
    for (const note of task.notes) {
      if (!noted.has(note)) {
        noted.add(note);
        report.note(note);
      }
    }
  }

  function take({ case: kind, value }: StreamEvaluateResponse["event"]): void {
    watchSilence();
    hasFailed = false;
    if (kind === "queued" && value.expectedWaitMs >= longWaitMs) {
      report.note(`waiting for an engine: place ${value.place}, about ${value.expectedWaitMs} ms`);
    }
    // A newer service may send events of another kind.
    if (kind !== "evaluation") {
      return;
    }
    // A search that was begun again repeats its first depths.
    if (best === undefined || depthOf(value) >= depthOf(best)) {
      best = value;
      report.evaluation(best);
    }
    stopReason = value.search?.stopReason;
    if (hurried || (waitsFor === undefined && mates(value))) {
      finish();
    } else if (stopReason !== undefined) {
      end();
    }
  }

  /** True if `go mate` has found its mate. */
  function mates(evaluation: EvaluateResponse): boolean {
    const moves = mateOf(evaluation);
    return mate !== undefined && moves !== undefined && moves > 0 && moves <= mate;
  }

  /** The search has ended, or has failed for good. */
  function end(): void {
    if (state !== "searching") {
      return;
    }
    clearTimeout(silence);
    const why = stopReason === undefined ? "nothing more is found" : (reasons[stopReason] ?? timeIsOver);
    if (mate !== undefined && !(best && mates(best))) {
      report.note(`no mate in ${mate} was found: ${why}`);
    }
    if (waitsFor === undefined) {
      if (why === timeIsOver && task.limits.movetimeMs === undefined) {
        report.note(`the search has ended before its limit: ${why}`);
      }
      finish();
      return;
    }
    state = "waiting";
    leave();
    report.note(`the search has ended (${why}): the best move waits for ${waitsFor}`);
  }

  /** The limits of the task in the time that is left. */
  function limitsNow(): SearchLimits {
    const { movetimeMs: askedMs, ...limits } = task.limits;
    if (askedMs === undefined) {
      return limits;
    }
    const now = performance.now();
    const movetimeMs = Math.max(Math.min(askedMs, Math.floor(answerByAt - now)), shortestMs);
    endsAt = now + movetimeMs;
    return { ...limits, movetimeMs };
  }

  /** How long to wait before a retry, in milliseconds; undefined if there is none. An error that is no refusal can be retried. */
  function waitOf(error: unknown, failures: number): number | undefined {
    const refusal = error instanceof KibitzError ? error : undefined;
    if (refusal?.retryable === false) {
      return undefined;
    }
    const ownMs = Math.min(firstRetryMs * 2 ** (failures - 1), retryMaxMs);
    const waitMs = Math.max(refusal?.retryAfterMs ?? ownMs, firstRetryMs);
    // A clock ends the wait by itself, and so does the command that the best move waits for.
    const isEnded = waitsFor !== undefined || time !== undefined;
    return isEnded || (failures < triesMax && waitMs <= patienceMaxMs) ? waitMs : undefined;
  }

  function textOfRetry(waitMs: number): string {
    const untilAt = best === undefined ? lastAt : answerByAt;
    return performance.now() + waitMs + worthwhileMs < untilAt
      ? `asking again in ${waitMs} ms`
      : `it asks for ${waitMs} ms, too long for this move`;
  }

  async function search(): Promise<void> {
    let failures = 0;
    while (state === "searching") {
      watchSilence();
      try {
        for await (const { event } of watch(limitsNow(), leaving.signal)) {
          if (state !== "searching") {
            return;
          }
          take(event);
        }
        end();
      } catch (error) {
        if (state !== "searching") {
          return;
        }
        const narrower = error instanceof KibitzError ? retask(error) : undefined;
        if (narrower !== undefined) {
          task = narrower;
          reportTask();
          continue;
        }
        failures++;
        hasFailed = true;
        const waitMs = waitOf(error, failures);
        const again = waitMs === undefined ? "" : `; ${textOfRetry(waitMs)}`;
        report.note(`${error instanceof Error ? error.message : String(error)}${again}`);
        if (waitMs === undefined) {
          end();
          return;
        }
        clearTimeout(silence);
        retryAt = performance.now() + waitMs;
        await new Promise<void>((resolve) => after(waitMs, resolve));
        retryAt = 0;
      }
    }
  }

  reportTask();
  if (waitsFor === undefined) {
    startClock();
  }
  void search();

  return {
    stop: () => hurry(firstMoveMs),
    stopAtOnce: finish,
    ponderhit() {
      if (waitsFor !== "ponderhit" || state === "over") {
        return;
      }
      waitsFor = undefined;
      if (state === "waiting") {
        finish();
      } else {
        startClock();
      }
    },
  };
}

/** Plies; 0 if the game is over. */
function depthOf({ search }: EvaluateResponse): number {
  return search?.depth ?? 0;
}
