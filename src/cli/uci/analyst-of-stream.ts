import * as pb from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type {
  EvaluateResponse,
  StreamEvaluateResponse,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { numberFromLong } from "../../calls/convert.ts";
import type { Bound, Score } from "../../chess/score.ts";
import type { Analyst, Ended, Finding, Question } from "./analyst.ts";

/** StreamEvaluate, of this process or of a service elsewhere. Rejects as {@link Analyst.watch} does. */
type StreamEvaluate = (
  request: pb.AnalysisRequest,
  signal: AbortSignal,
) => AsyncIterable<StreamEvaluateResponse>;

/**
 * {@link Analyst.watch} over the call that all callers have.
 *
 * @param template of every request: which engine is asked
 */
export function watchByStream(stream: StreamEvaluate, template: pb.AnalysisRequest): Analyst["watch"] {
  return async function* (question, signal) {
    for await (const { event } of stream(requestOf(question, template), signal)) {
      const finding = findingOf(event);
      if (finding !== undefined) {
        yield finding;
      }
    }
  };
}

function requestOf(question: Question, template: pb.AnalysisRequest): pb.AnalysisRequest {
  const { moves, nodes, searchMoves, options, ...rest } = question;
  return {
    ...template,
    ...rest,
    moves: [...moves],
    searchMoves: [...searchMoves],
    options: { ...options },
    ...(nodes !== undefined && { nodes: BigInt(nodes) }),
  };
}

function findingOf(event: StreamEvaluateResponse["event"]): Finding | undefined {
  switch (event.case) {
    case "queued":
      return { kind: "queued", ...event.value };
    case "evaluation":
      return findingOfAnswer(event.value);
    default:
      // An event of another kind, which a newer service may send.
      return undefined;
  }
}

function findingOfAnswer({ search, score, lines, bestMove, ponder }: EvaluateResponse): Finding {
  const count = (value: bigint | undefined) => numberFromLong(value) ?? 0;
  return {
    kind: "state",
    state: {
      depth: search?.depth ?? 0,
      best: bestMove?.uci,
      ponder: ponder?.uci,
      score: scoreOf(score),
      lines: lines.map(({ depth, seldepth, score, moves }) => ({
        depth,
        seldepth,
        score: scoreOf(score),
        moves,
      })),
      nodes: count(search?.nodes),
      nps: count(search?.nps),
      timeMs: search?.timeMs ?? 0,
      hashfull: search?.hashfull ?? 0,
      tbhits: count(search?.tbhits),
      ended: search?.stopReason === undefined ? undefined : endedBy(search.stopReason),
    },
  };
}

function endedBy(reason: pb.StopReason): Ended {
  switch (reason) {
    case pb.StopReason.DEPTH:
      return "depth";
    case pb.StopReason.NODES:
      return "nodes";
    case pb.StopReason.TERMINAL:
      return "rules";
    default:
      return "time";
  }
}

const boundOf: ReadonlyMap<pb.Bound | undefined, Bound> = new Map([
  [pb.Bound.LOWER, "lower"],
  [pb.Bound.UPPER, "upper"],
]);

function scoreOf(score: pb.Score | undefined): Score {
  return {
    value:
      score?.value.case === "mate"
        ? { kind: "mate", mate: score.value.value }
        : { kind: "cp", cp: score?.value.value ?? 0 },
    bound: boundOf.get(score?.bound) ?? "exact",
    wdl: score?.wdl,
  };
}
