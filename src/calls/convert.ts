import { isMessage, type Message, type MessageInitShape, type UnknownEnum } from "@bufbuild/protobuf";
import * as pb from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  type EvaluateResponse,
  EvaluateResponseSchema,
  type FindBestMoveResponse,
  FindBestMoveResponseSchema,
  StreamEvaluateResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { GameReview } from "../../gen/chess/analysis/v1/game_pb.ts";
import { ReviewGameResponseSchema } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Analysis, AnalysisLine, AnalysisRequest } from "../analysis/analysis.ts";
import type { MoveDescription } from "../chess/moves.ts";
import { type KnownResult, type Score, summarize, winPercent } from "../chess/score.ts";
import type { EngineBuild } from "../engine/engine.ts";
import type { CallFields } from "../log/call-line.ts";
import type { TableMove, TableResult } from "../tablebase/results.ts";
import { uuidv7 } from "../text/uuidv7.ts";

export function requestFromMessage(message: pb.AnalysisRequest): AnalysisRequest {
  return {
    fen: message.fen,
    moves: message.moves,
    depth: message.depth,
    nodes: numberFromLong(message.nodes),
    multipv: message.multipv,
    movetimeMs: message.movetimeMs,
    searchMoves: message.searchMoves,
    engine: message.engine ?? "latest",
    path: pathFromMessage(message.path),
    options: message.options ?? {},
  };
}

/** The result is exact, because no allowed value exceeds 2^53. */
export function numberFromLong(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** Throws a RangeError for an unknown number. */
export function pathFromMessage(path: pb.Path): AnalysisRequest["path"] {
  switch (path) {
    case pb.Path.UNSPECIFIED:
    case pb.Path.AUTO:
      return "auto";
    case pb.Path.WASM:
      return "wasm";
    case pb.Path.NATIVE:
      return "native";
    default:
      // This line does not compile if the proto file gets another path.
      throw new RangeError(`no path is ${path satisfies UnknownEnum}`);
  }
}

type Answer = Exclude<MessageInitShape<typeof EvaluateResponseSchema>, Message>;

/** EvaluateResponse and FindBestMoveResponse have the same fields. */
export function messageFromAnalysis(analysis: Analysis): Answer {
  const { request, best, ponder, tablebase } = analysis;
  const { position, build } = request;
  const { terminal, drawClaim, turn } = position;
  return {
    id: uuidv7(),
    fen: position.fen,
    turn: enumValue(pb.Color, turn),
    chess960: position.chess960,
    score: scoreMessage(analysis.score, terminal ?? tablebase),
    lines: analysis.lines.map(messageFromLine),
    search: messageFromSearch(analysis),
    warnings: analysis.warnings.map(({ code, message, field }) => ({
      code,
      message,
      ...(field && { field }),
    })),
    summary: summarize({ score: analysis.score, bestMoveSan: best?.san, terminal, tablebase, turn }),
    ...(!terminal && { engine: messageFromBuild(build) }),
    ...(best && { bestMove: messageFromMove(best) }),
    ...(ponder && { ponder: messageFromMove(ponder) }),
    ...(terminal && {
      terminal: {
        reason: enumValue(pb.TerminalReason, terminal.reason),
        result: terminal.result,
        ...(terminal.winner && { winner: enumValue(pb.Color, terminal.winner) }),
      },
    }),
    ...(drawClaim && { drawClaimable: enumValue(pb.DrawClaim, drawClaim) }),
    ...(tablebase && { tablebase: messageFromTableResult(tablebase) }),
  };
}

/** Returns the part of the response that never changes. Returns undefined if the search is not deterministic. */
export function repeatablePart(message: Message): Message | undefined {
  if (!isMessage(message, EvaluateResponseSchema) && !isMessage(message, FindBestMoveResponseSchema)) {
    return message;
  }
  const { search } = message;
  if (!search?.deterministic) {
    return undefined;
  }
  const repeated = { ...search, timeMs: 0, nps: 0n, queueMs: 0, cached: false };
  const part: EvaluateResponse | FindBestMoveResponse = { ...message, id: "", search: repeated };
  return part;
}

/** Returns the log fields about the search. `answer` is a response, or the last message of a stream. */
export function searchFactsOf(answer: unknown): CallFields {
  if (isMessage(answer, StreamEvaluateResponseSchema)) {
    return searchFactsOf(answer.event.value);
  }
  if (isMessage(answer, ReviewGameResponseSchema)) {
    return answer.event.case === "review" ? reviewFactsOf(answer.event.value) : {};
  }
  if (!isMessage(answer, EvaluateResponseSchema) && !isMessage(answer, FindBestMoveResponseSchema)) {
    return {};
  }
  const { engine, search } = answer;
  if (search === undefined) {
    return {};
  }
  const { depth, cached, queueMs, timeMs } = search;
  // A cached result has the counters of an earlier search.
  return { engine: engine?.id, depth, cached, queueMs, engineMs: cached ? 0 : timeMs };
}

function reviewFactsOf({ engine, search }: GameReview): CallFields {
  return {
    engine: engine?.id,
    depth: search?.limits?.depth,
    cached: search?.searched === 0,
    engineMs: Number(search?.timeMs),
  };
}

function messageFromSearch(analysis: Analysis): MessageInitShape<typeof pb.SearchSchema> {
  const { request, counters, stopReason } = analysis;
  return {
    depth: analysis.depth,
    seldepth: analysis.seldepth,
    nodes: BigInt(counters.nodes),
    nps: BigInt(counters.nps),
    timeMs: counters.timeMs,
    queueMs: analysis.queueMs,
    hashfull: counters.hashfull,
    tbhits: BigInt(counters.tbhits),
    deterministic: analysis.deterministic,
    cached: analysis.cached,
    limits: {
      multipv: request.multipv,
      searchMoves: [...request.searchMoves],
      options: { ...request.options },
      ...(request.depth !== undefined && { depth: request.depth }),
      ...(request.nodes !== undefined && { nodes: BigInt(request.nodes) }),
      ...(request.movetimeMs !== undefined && { movetimeMs: request.movetimeMs }),
    },
    ...(stopReason && { stopReason: enumValue(pb.StopReason, stopReason) }),
  };
}

export function scoreMessage(score: Score, known?: KnownResult): MessageInitShape<typeof pb.ScoreSchema> {
  const { value, bound, wdl } = score;
  return {
    value: value.kind === "cp" ? { case: "cp", value: value.cp } : { case: "mate", value: value.mate },
    bound: enumValue(pb.Bound, bound),
    ...(wdl && { wdl }),
    winPercent: winPercent(score, known),
  };
}

export function messageFromBuild({
  id,
  name,
  version,
  path,
}: EngineBuild): MessageInitShape<typeof pb.EngineRefSchema> {
  return { id, name, version, path: enumValue(pb.Path, path) };
}

export function messageFromMove({
  promotion,
  castling,
  ...rest
}: MoveDescription): MessageInitShape<typeof pb.MoveSchema> {
  return {
    ...rest,
    ...(promotion && { promotion: enumValue(pb.PromotionPiece, promotion) }),
    ...(castling && { castling: enumValue(pb.CastlingSide, castling) }),
  };
}

export function messageFromTableResult({
  category,
  winner,
  dtzPlies,
  men,
}: TableResult): MessageInitShape<typeof pb.TablebaseSchema> {
  return {
    category: enumValue(pb.TablebaseCategory, category),
    ...(winner && { winner: enumValue(pb.Color, winner) }),
    ...(dtzPlies !== undefined && { dtzPlies }),
    men,
  };
}

export function messageFromTableMove({
  category,
  dtzPlies,
  repetition: _,
  ...move
}: TableMove): MessageInitShape<typeof pb.TablebaseMoveSchema> {
  return {
    ...move,
    category: enumValue(pb.TablebaseCategory, category),
    ...(dtzPlies !== undefined && { dtzPlies }),
  };
}

function messageFromLine(line: AnalysisLine, index: number): MessageInitShape<typeof pb.LineSchema> {
  const { depth, seldepth, score, moves, san } = line;
  return { rank: index + 1, depth, seldepth, score: scoreMessage(score), moves: [...moves], san: [...san] };
}

/** Converts a word of the JSON API to the number of an enum: `server_limit` becomes STOP_REASON_SERVER_LIMIT. */
export function enumValue<E extends Readonly<Record<string, number | string>>>(
  values: E,
  word: Lowercase<keyof E & string>,
): Extract<E[keyof E], number> {
  return values[word.toUpperCase()] as Extract<E[keyof E], number>;
}
