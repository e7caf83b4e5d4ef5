import type { DescMethod } from "@bufbuild/protobuf";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Plain } from "../../text/json.ts";
import type { Caller } from "./caller.ts";
import { type NamedMove, type PlainScore, type PlainTablebase, scoreText, verdictText } from "./text.ts";
import type { Report } from "./tool.ts";

export interface PlainEvaluation {
  readonly fen: string;
  readonly engine: { readonly name: string } | null;
  readonly score: PlainScore;
  readonly best_move: NamedMove | null;
  readonly lines: readonly PlainLine[];
  readonly terminal: { readonly result: string } | null;
  readonly draw_claimable: string | null;
  readonly search: {
    readonly depth: number;
    readonly nodes: number;
    readonly limits: { readonly depth: number | null };
  };
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly summary: string;
  readonly tablebase: PlainTablebase | null;
}

/** A line of an evaluation. The line with rank 1 is the best line for the side to move. */
export interface PlainLine {
  readonly rank: number;
  readonly score: PlainScore;
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

export interface QueuedEvent {
  readonly queued: { readonly place: number } | null;
}

interface EvaluateEvent extends QueuedEvent {
  readonly evaluation: PlainEvaluation | null;
}

export async function evaluate(request: Plain, caller: Caller, report?: Report): Promise<PlainEvaluation> {
  if (report === undefined) {
    // The cast is safe, because plain JSON has every field of the message.
    return (await caller.once(AnalysisService.method.evaluate, request)) as PlainEvaluation;
  }
  let last: PlainEvaluation | undefined;
  /** The last reported progress, which must rise. A search can return the same depth twice if it ends during the next depth. */
  let reported = -1;
  for await (const event of follow<EvaluateEvent>(
    AnalysisService.method.streamEvaluate,
    request,
    caller,
    report,
  )) {
    const { queued, evaluation } = event;
    if (queued) {
      reported = 0;
    }
    if (evaluation) {
      last = evaluation;
      const { score, tablebase } = evaluation;
      const { depth, limits } = evaluation.search;
      if (depth <= reported) {
        continue;
      }
      reported = depth;
      const best = evaluation.best_move ? `, ${evaluation.best_move.san}` : "";
      report({
        progress: depth,
        ...(limits.depth !== null && { total: limits.depth }),
        message: `depth ${depth}: ${verdictText(score, tablebase)}${best}`,
      });
    }
  }
  if (last === undefined) {
    throw new Error("a search ended without a state");
  }
  return last;
}

/** Yields the messages of a stream. Reports once to the client if the call waits for an engine. */
export async function* follow<Event extends QueuedEvent>(
  method: DescMethod,
  request: Plain,
  caller: Caller,
  report?: Report,
): AsyncGenerator<Event> {
  let isQueued = false;
  for await (const event of caller.stream(method, request) as AsyncIterable<Event>) {
    if (event.queued && !isQueued) {
      isQueued = true;
      report?.({ progress: 0, message: `waiting for an engine, place ${event.queued.place}` });
    }
    yield event;
  }
}

export function shownScore(score: PlainScore): Plain {
  return { ...score, text: scoreText(score) };
}
