import { scoreOfTerminal } from "../chess/score.ts";
import { EngineFailure, type SearchJob } from "../engine/engine.ts";
import type { Supervisor } from "../engine/supervisor.ts";
import { KibitzError } from "../errors.ts";
import type { Analysis, JudgedRequest } from "./analysis.ts";
import { analysisFromEvent } from "./analysis-from-event.ts";
import type { Scheduler } from "./scheduler.ts";

/** Analyses positions. A finished game gives its one state at once, and no engine is asked. */
export interface Analyzer {
  /**
   * The final state.
   *
   * @param flow whose work it is: flows share the engines evenly. An address, or a batch of one.
   */
  analyze(request: JudgedRequest, flow: string, signal: AbortSignal): Promise<Analysis>;
  /** Complete states as the search deepens; the last one is final and has its stop reason. */
  watch(request: JudgedRequest, flow: string, signal: AbortSignal): AsyncIterable<Analysis>;
}

export interface AnalyzerOptions {
  readonly search: Supervisor;
  readonly scheduler: Scheduler;
  /** When a search ends that sets no time of its own, in milliseconds. */
  readonly movetimeMaxMs: number;
}

export function createAnalyzer({ search, scheduler, movetimeMaxMs }: AnalyzerOptions): Analyzer {
  /** Only the states that are taken are described: SAN costs more than a shallow search. */
  async function* run(request: JudgedRequest, signal: AbortSignal): AsyncGenerator<() => Analysis> {
    if (request.position.terminal) {
      yield () => analysisOfFinishedGame(request);
      return;
    }
    const { position, build, depth, multipv, movetimeMs = movetimeMaxMs, options } = request;
    const job: SearchJob = { position, depth, multipv, movetimeMs, options };
    using slot = await scheduler.enter(signal);
    try {
      for await (const event of search(build, job, signal)) {
        yield () => analysisFromEvent(event, request, slot.queueMs);
      }
    } catch (error) {
      throw error instanceof EngineFailure ? errorFromFailure(error) : error;
    }
  }

  return {
    async analyze(request, _flow, signal) {
      let last: (() => Analysis) | undefined;
      for await (const state of run(request, signal)) {
        last = state;
      }
      if (last === undefined) {
        throw new Error("the search ended without an answer");
      }
      return last();
    },
    async *watch(request, _flow, signal) {
      for await (const state of run(request, signal)) {
        yield state();
      }
    },
  };
}

function analysisOfFinishedGame(request: JudgedRequest): Analysis {
  const { terminal } = request.position;
  if (terminal === undefined) {
    throw new TypeError("the game goes on");
  }
  return {
    request,
    score: scoreOfTerminal(terminal),
    best: undefined,
    ponder: undefined,
    lines: [],
    depth: 0,
    seldepth: 0,
    counters: { nodes: 0, nps: 0, timeMs: 0, hashfull: 0, tbhits: 0 },
    queueMs: 0,
    stopReason: "terminal",
    deterministic: true,
    warnings: request.warnings,
  };
}

function errorFromFailure(failure: EngineFailure): KibitzError {
  switch (failure.kind) {
    case "overran":
    case "deaf":
    case "suspended":
      return new KibitzError(
        "engine_timeout",
        "The engine did not end its search in time and was replaced.",
        {
          cause: failure,
        },
      );
    case "no_start":
      return new KibitzError("starting", "The engine could not be started just now.", {
        cause: failure,
        retryAfterMs: 1000,
      });
    case "exited":
    case "confused":
      return new KibitzError("internal", "The engine failed on this position.", { cause: failure });
  }
}
