import { KibitzError } from "../../errors/errors.ts";
import type { Analyst, Ended, Finding, Limits, State } from "./analyst.ts";
import { shortestMs, type Task, widestBounds } from "./task-of-go.ts";

/** What was begun by one `go`. It says its best move exactly once. */
export interface RunningSearch {
  /** The best move is wanted: what there is, or what comes within a moment. */
  stop(): void;
  /** The best move is said before this returns. */
  stopAtOnce(): void;
  /** The expected move was played: the clock runs from now on. */
  ponderhit(): void;
}

export interface SearchSetting {
  /** What is asked, with limits that may be less than the first ones. */
  readonly watch: (limits: Limits, signal: AbortSignal) => ReturnType<Analyst["watch"]>;
  readonly task: Task;
  /** What the task is after a refusal, if it is another one then; else the search has failed. */
  readonly mend: (error: KibitzError) => Task | undefined;
  /** Played against a clock if no move was found; undefined if none is legal. */
  readonly fallback: { readonly move: string; readonly why: string } | undefined;
  /** Moves, + where the side to move mates; undefined where no mate was found. */
  readonly mateOf: (state: State) => number | undefined;
  readonly tell: Teller;
}

interface Teller {
  state(state: State): void;
  note(text: string): void;
  /** The last word. */
  bestMove(best: string | undefined, ponder: string | undefined): void;
}

/** How long a stopped search may take to find its first move, in milliseconds: it must have been said within 200. */
const firstMoveMs = 120;

/** Silence after which nothing is hoped for any more, beyond what a search may take, in milliseconds. */
const silenceMs = 15_000;

/** How often is asked where no clock ends it, and how long is waited where nothing says how long, in milliseconds. */
const triesMax = 6;
const firstRetryMs = 200;
const retryMaxMs = 10_000;

/** Where no clock says how long to wait, in milliseconds: the window of a plan's requests is mostly a minute. */
const patienceMaxMs = 60_000;

/** What is left of a move's time must be more than the wait by so many milliseconds, or it is not worth it. */
const worthwhileMs = 100;

/** When a search is called off that should have ended by itself, in milliseconds behind its time. */
const lateMs = 500;

/** The least wait for an engine that anybody wants to know of, in milliseconds. */
const longWaitMs = 1000;

const wordsOfEnd: Readonly<Record<Ended, string>> = {
  depth: "the depth was reached",
  nodes: "the nodes were visited, as many as may be asked for",
  time: "the time is over, the longest that may be asked for",
  rules: "the game is over",
};

export function startSearch(setting: SearchSetting): RunningSearch {
  const { watch, mend, fallback, mateOf, tell } = setting;
  let { task } = setting;
  const { time, mate } = task;
  let { waitsFor } = task;
  /** `waiting`: all is found, and the best move waits to be asked for. */
  let state: "searching" | "waiting" | "over" = "searching";
  let best: State | undefined;
  /** Undefined unless the search has come to its own end. */
  let ended: Ended | undefined;
  /** Whether the first move that is found is the answer. */
  let hurried = false;
  let answerByAt = Number.POSITIVE_INFINITY;
  /** As long as no move was found, it is this that counts. */
  let lastAt = Number.POSITIVE_INFINITY;
  /** When the search that was asked for last ends by its own time. */
  let endsAt = Number.POSITIVE_INFINITY;
  /** When is asked again what has failed; 0 unless that is waited for. */
  let retryAt = 0;
  /** Whether what was asked last has failed. */
  let hasFailed = false;
  const told = new Set<string>();
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
    if (hasFailed && time !== undefined && best?.best !== undefined) {
      tell.note(`the search was cut off: ${best.best} is the best move so far, at depth ${best.depth}`);
    }
    tell.bestMove(best?.best ?? moveInstead(), best?.ponder);
    leave();
  }

  /** Whoever plays by a clock needs a move, and loses by none; a move that nobody searched would spoil an analysis. */
  function moveInstead(): string | undefined {
    if (fallback === undefined) {
      return undefined;
    }
    const { move, why } = fallback;
    if (ended === "rules") {
      tell.note(`the game is drawn by the rules: ${move} ${why}`);
      return move;
    }
    if (time === undefined) {
      tell.note("no move was found, and no clock asks for one");
      return undefined;
    }
    tell.note(`no move was found: ${move} ${why}`);
    return move;
  }

  /** Calls the search off, unless it has ended by itself, or is about to. */
  function leave(): void {
    if (ended === undefined && performance.now() < endsAt) {
      leaving.abort();
    } else if (ended === undefined) {
      setTimeout(() => leaving.abort(), lateMs).unref();
    }
  }

  /** Says what there is, or the first that comes. */
  function hurry(withinMs: number): void {
    if (best !== undefined || state !== "searching" || retryAt > performance.now() + withinMs) {
      finish();
      return;
    }
    hurried = true;
    after(withinMs, finish);
  }

  function runClock(): void {
    if (time === undefined) {
      return;
    }
    const { searchMs, answerByMs, lastMs } = time;
    const now = performance.now();
    answerByAt = now + answerByMs;
    lastAt = now + lastMs;
    // Whoever searches keeps the time itself, unless it was not known when that was asked.
    const isKeptHere = task.waitsFor === "ponderhit";
    after(isKeptHere ? searchMs : answerByMs, () => hurry(Math.max(0, now + lastMs - performance.now())));
  }

  function listen(): void {
    clearTimeout(silence);
    const ms = silenceMs + (task.limits.movetimeMs ?? widestBounds.movetimeMs);
    silence = setTimeout(() => {
      tell.note(`there was no word for ${Math.round(ms / 1000)} s`);
      end();
    }, ms);
  }

  function tellNotes(): void {
    for (const note of task.notes) {
      if (!told.has(note)) {
        told.add(note);
        tell.note(note);
      }
    }
  }

  function take(finding: Finding): void {
    listen();
    hasFailed = false;
    if (finding.kind === "queued") {
      const { place, expectedWaitMs } = finding;
      if (expectedWaitMs >= longWaitMs) {
        tell.note(`waiting for an engine: place ${place}, about ${expectedWaitMs} ms`);
      }
      return;
    }
    const { state: found } = finding;
    // A search that was begun again says nothing twice.
    if (best === undefined || found.depth >= best.depth) {
      best = found;
      tell.state(best);
    }
    ended = found.ended;
    if (hurried || (waitsFor === undefined && mates(found))) {
      finish();
    } else if (ended !== undefined) {
      end();
    }
  }

  /** As soon as it was asked for. */
  function mates(found: State): boolean {
    const moves = mateOf(found);
    return mate !== undefined && moves !== undefined && moves > 0 && moves <= mate;
  }

  /** Nothing more is found. */
  function end(): void {
    if (state !== "searching") {
      return;
    }
    clearTimeout(silence);
    const why = ended ? wordsOfEnd[ended] : "nothing more is found";
    if (mate !== undefined && !(best && mates(best))) {
      tell.note(`no mate in ${mate} was found: ${why}`);
    }
    if (waitsFor === undefined) {
      if (ended === "time" && task.limits.movetimeMs === undefined) {
        tell.note(`the search has ended before its limit: ${why}`);
      }
      finish();
      return;
    }
    state = "waiting";
    leave();
    tell.note(`the search has ended (${why}): the best move waits for ${waitsFor}`);
  }

  function limitsNow(): Limits {
    const { movetimeMs: askedMs, ...limits } = task.limits;
    if (askedMs === undefined) {
      return limits;
    }
    const now = performance.now();
    const movetimeMs = Math.max(Math.min(askedMs, Math.floor(answerByAt - now)), shortestMs);
    endsAt = now + movetimeMs;
    return { ...limits, movetimeMs };
  }

  /** How long to wait before it is asked again, in milliseconds; undefined if nobody waits so long. */
  function waitOf(error: unknown, failures: number): number | undefined {
    const refusal = error instanceof KibitzError ? error : undefined;
    // What is no refusal is a service that was not reached.
    if (refusal?.retryable === false) {
      return undefined;
    }
    const ownMs = Math.min(firstRetryMs * 2 ** (failures - 1), retryMaxMs);
    const waitMs = Math.max(refusal?.retryAfterMs ?? ownMs, firstRetryMs);
    // Whoever wants no move yet has time, and a clock ends the wait by itself.
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
      listen();
      try {
        for await (const finding of watch(limitsNow(), leaving.signal)) {
          if (state !== "searching") {
            return;
          }
          take(finding);
        }
        end();
      } catch (error) {
        if (state !== "searching") {
          return;
        }
        const mended = error instanceof KibitzError ? mend(error) : undefined;
        if (mended !== undefined) {
          task = mended;
          tellNotes();
          continue;
        }
        failures++;
        hasFailed = true;
        const waitMs = waitOf(error, failures);
        const again = waitMs === undefined ? "" : `; ${textOfRetry(waitMs)}`;
        tell.note(`${error instanceof Error ? error.message : String(error)}${again}`);
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

  tellNotes();
  if (waitsFor === undefined) {
    runClock();
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
        runClock();
      }
    },
  };
}
