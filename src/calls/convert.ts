import { create, isMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import * as pb from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  type EvaluateResponse,
  EvaluateResponseSchema,
  type FindBestMoveResponse,
  FindBestMoveResponseSchema,
  StreamEvaluateResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type {
  CreateKeyResponseSchema,
  GetKeyResponseSchema,
} from "../../gen/chess/analysis/v1/key_service_pb.ts";
import type { KeyRecord } from "../access/account.ts";
import type { RateWindow } from "../access/counters.ts";
import type { Estimate } from "../access/over-plan.ts";
import type { Plan, PlanLimits } from "../access/plans.ts";
import type { Analysis, AnalysisLine, AnalysisRequest } from "../analysis/analysis.ts";
import type { PlaceInQueue } from "../analysis/scheduler.ts";
import type { MoveDescription } from "../chess/notation.ts";
import { type Score, winPercent } from "../chess/score.ts";
import { summarize } from "../chess/summary.ts";
import type { EngineVersion } from "../engine/catalog.ts";
import type { EngineBuild, EngineInfo } from "../engine/engine.ts";
import type { LogFields } from "../log/log.ts";
import { uuidv7 } from "../text/uuid.ts";
import { memoize } from "./memoize.ts";
import { defaultsOfOptions, schemaOfOptions } from "./options-schema.ts";

/** The only place that sees generated and domain types together. */

export function requestFromMessage(message: pb.AnalysisRequest): AnalysisRequest {
  return {
    fen: message.fen,
    moves: message.moves,
    depth: message.depth,
    multipv: message.multipv,
    movetimeMs: message.movetimeMs,
    engine: message.engine ?? "latest",
    path: pathFromMessage(message.path),
    options: message.options ?? {},
  };
}

function pathFromMessage(path: pb.Path): AnalysisRequest["path"] {
  switch (path) {
    case pb.Path.WASM:
      return "wasm";
    case pb.Path.NATIVE:
      return "native";
    default:
      return "auto";
  }
}

/** The request in plain JSON, with what the caller set. */
export function plainFromMessage(message: pb.AnalysisRequest): Readonly<Record<string, unknown>> {
  const { fen, moves, depth, multipv, movetimeMs, engine, path, options } = message;
  return {
    fen,
    ...(moves.length > 0 && { moves }),
    ...(depth !== undefined && { depth }),
    ...(multipv !== undefined && { multipv }),
    ...(movetimeMs !== undefined && { movetime_ms: movetimeMs }),
    ...(engine !== undefined && { engine }),
    ...(path !== pb.Path.UNSPECIFIED && { path: pathFromMessage(path) }),
    ...(options && { options }),
  };
}

/** The request that {@link plainFromMessage} wrote, or one like it. */
export function messageFromPlain(plain: Readonly<Record<string, unknown>>): pb.AnalysisRequest {
  const { movetime_ms: movetimeMs, path, ...others } = plain as PlainRequest;
  return create(pb.AnalysisRequestSchema, {
    ...others,
    ...(movetimeMs !== undefined && { movetimeMs }),
    ...(path && { path: enumValue(pb.Path, path) }),
  });
}

type PlainRequest = Omit<
  MessageInitShape<typeof pb.AnalysisRequestSchema>,
  "$typeName" | "movetimeMs" | "path"
> & {
  readonly movetime_ms?: number;
  readonly path?: AnalysisRequest["path"];
};

/** One shape for both answers: FindBestMoveResponse has the fields of EvaluateResponse. */
export function messageFromAnalysis(analysis: Analysis): MessageInitShape<typeof EvaluateResponseSchema> {
  const { request, best, cached } = analysis;
  const { position, build } = request;
  const { terminal, drawClaim, turn } = position;
  return {
    id: uuidv7(),
    fen: position.fen,
    turn: enumValue(pb.Color, turn),
    chess960: position.chess960,
    // The rules have judged a finished game: no engine was asked.
    ...(!terminal && { engine: messageFromBuild(build) }),
    score: terminal
      ? scoreMessage(analysis.score, terminal.winner)
      : messageFromScore(analysis.score, 0, cached),
    ...(best && { bestMove: messageFromMove(best, 0, cached) }),
    ...(analysis.ponder && { ponder: messageFromMove(analysis.ponder, 0, cached) }),
    lines: analysis.lines.map((line, index) => messageFromLine(line, index, cached)),
    ...(terminal && {
      terminal: {
        reason: enumValue(pb.TerminalReason, terminal.reason),
        result: terminal.result,
        ...(terminal.winner && { winner: enumValue(pb.Color, terminal.winner) }),
      },
    }),
    ...(drawClaim && { drawClaimable: enumValue(pb.DrawClaim, drawClaim) }),
    search: messageFromSearch(analysis),
    warnings: analysis.warnings.map(({ code, message, field }) => ({
      code,
      message,
      ...(field && { field }),
    })),
    summary: summarize({ score: analysis.score, bestMoveSan: best?.san, terminal, turn }),
  };
}

/** What a stream says while its search waits. */
export function messageFromPlace({
  place,
  expectedWaitMs,
}: PlaceInQueue): MessageInitShape<typeof pb.QueuedSchema> {
  return { place, expectedWaitMs };
}

/**
 * The part of an answer that the contract promises to be the same on any instance; `undefined` of an analysis for
 * which nothing is promised.
 */
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

/** What operators want to know of a search, of the answer to a call or the last of a stream; nothing of other answers. */
export function searchFactsOf(answer: unknown): LogFields {
  if (isMessage(answer, StreamEvaluateResponseSchema)) {
    return searchFactsOf(answer.event.value);
  }
  if (!isMessage(answer, EvaluateResponseSchema) && !isMessage(answer, FindBestMoveResponseSchema)) {
    return {};
  }
  const { engine, search } = answer;
  if (search === undefined) {
    return {};
  }
  const { depth, cached, queueMs, timeMs } = search;
  // The counters of a kept answer are those of its search.
  const facts = { depth, cached, queueMs, engineMs: cached ? 0 : timeMs };
  return engine ? { engine: engine.id, ...facts } : facts;
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
    ...(stopReason && { stopReason: enumValue(pb.StopReason, stopReason) }),
    deterministic: analysis.deterministic,
    cached: analysis.cached,
    limits: {
      depth: request.depth,
      multipv: request.multipv,
      ...(request.movetimeMs !== undefined && { movetimeMs: request.movetimeMs }),
      options: { ...request.options },
    },
  };
}

/** @param winner of a game that is over. */
function scoreMessage(score: Score, winner?: "white" | "black"): MessageInitShape<typeof pb.ScoreSchema> {
  const { value, bound, wdl } = score;
  return {
    value: value.kind === "cp" ? { case: "cp", value: value.cp } : { case: "mate", value: value.mate },
    bound: enumValue(pb.Bound, bound),
    ...(wdl && { wdl }),
    winPercent: winPercent(score, winner),
  };
}

// What answers have in common that come from the cache is made once.

const messageFromScore = memoize(pb.ScoreSchema, (score: Score) => scoreMessage(score));

const messageFromBuild = memoize(pb.EngineRefSchema, ({ id, name, version, path }: EngineBuild) => ({
  id,
  name,
  version,
  path: enumValue(pb.Path, path),
}));

const messageFromMove = memoize(
  pb.MoveSchema,
  ({ promotion, castling, ...rest }: MoveDescription): MessageInitShape<typeof pb.MoveSchema> => ({
    ...rest,
    ...(promotion && { promotion: enumValue(pb.PromotionPiece, promotion) }),
    ...(castling && { castling: enumValue(pb.CastlingSide, castling) }),
  }),
);

const messageFromLine = memoize(pb.LineSchema, (line: AnalysisLine, index, keep) => ({
  rank: index + 1,
  depth: line.depth,
  seldepth: line.seldepth,
  score: messageFromScore(line.score, 0, keep),
  moves: [...line.moves],
  san: [...line.san],
}));

/** What the service knows of an engine version. */
export interface VersionFacts {
  readonly version: EngineVersion;
  readonly info: EngineInfo;
  readonly latest: boolean;
  readonly digests: ReadonlyMap<EngineBuild, string>;
  readonly available: (build: EngineBuild) => boolean;
}

export function messageFromVersion(facts: VersionFacts): MessageInitShape<typeof pb.EngineSchema> {
  const { version, info, latest, digests, available } = facts;
  const { defaultBuild, builds } = version;
  const chess960 = info.options.some(({ name }) => name === "uci_chess960");
  return {
    id: version.id,
    name: defaultBuild.name,
    author: info.author,
    family: defaultBuild.family,
    version: defaultBuild.version,
    ...(defaultBuild.license && { license: defaultBuild.license }),
    status: version.deprecated ? pb.EngineStatus.DEPRECATED : pb.EngineStatus.STABLE,
    latest,
    variants: [pb.Variant.STANDARD, ...(chess960 ? [pb.Variant.CHESS960] : [])],
    paths: builds.map((build) => ({
      path: enumValue(pb.Path, build.path),
      available: available(build),
      net: enumValue(pb.NetSize, build.net),
      sha256: digests.get(build) ?? "",
      threads: build.settings.threads,
      hashMb: build.settings.hashMb,
    })),
    defaultPath: enumValue(pb.Path, defaultBuild.path),
    optionsSchema: schemaOfOptions(info.options),
    optionsDefaults: defaultsOfOptions(info.options),
  };
}

export function messageFromPlan({ id, requiresKey, limits }: Plan): MessageInitShape<typeof pb.PlanSchema> {
  return { id, requiresKey, limits: messageFromLimits(limits) };
}

function messageFromLimits(limits: PlanLimits): MessageInitShape<typeof pb.PlanLimitsSchema> {
  return {
    depthMax: limits.depthMax,
    multipvMax: limits.multipvMax,
    movetimeMsMax: limits.movetimeMaxMs,
    ...(limits.concurrent !== undefined && { concurrent: limits.concurrent }),
    rates: limits.rates.map(({ name, quota, windowS, unit }) => ({
      name,
      quota: BigInt(quota),
      windowS,
      unit,
    })),
  };
}

export function messageFromEstimate({
  typicalMs,
  allowed,
}: Estimate): MessageInitShape<typeof pb.EstimateSchema> {
  return { typicalMs, allowed: [...allowed] };
}

export function messageFromNewKey(
  { id, name, plan, createdAt }: KeyRecord,
  key: string,
): MessageInitShape<typeof CreateKeyResponseSchema> {
  return { id, key, ...(name !== undefined && { name }), plan, createdAt: timestampFromMs(createdAt) };
}

export function messageFromKey(
  { id, name, plan }: KeyRecord,
  { limits }: Plan,
  windows: readonly RateWindow[],
): MessageInitShape<typeof GetKeyResponseSchema> {
  return {
    id,
    ...(name !== undefined && { name }),
    plan,
    limits: messageFromLimits(limits),
    remaining: windows.map(({ policy: { name, unit, quota, windowS }, remaining, resetMs }) => ({
      name,
      unit,
      quota: BigInt(quota),
      remaining: BigInt(Math.floor(remaining)),
      windowS,
      resetMs: Math.ceil(resetMs),
    })),
  };
}

/** The value of an enum by its lower-case word: `server_limit` is STOP_REASON_SERVER_LIMIT. */
function enumValue<E extends Readonly<Record<string, number | string>>>(
  values: E,
  word: Lowercase<keyof E & string>,
): Extract<E[keyof E], number> {
  return values[word.toUpperCase() as keyof E] as Extract<E[keyof E], number>;
}
