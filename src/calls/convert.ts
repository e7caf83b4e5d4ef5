import {
  create,
  type DescMessage,
  isMessage,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
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
import type { Analysis, AnalysisLine, AnalysisRequest, JudgedRequest } from "../analysis/analysis.ts";
import type { PlaceInQueue } from "../analysis/scheduler.ts";
import type { MoveDescription } from "../chess/moves.ts";
import { type Score, summarize, winPercent } from "../chess/score.ts";
import type { EngineBuild } from "../engine/engine.ts";
import type { CallFields } from "../log/call-line.ts";
import { uuidv7 } from "../request/context.ts";
import { freezeWhole } from "../text/frozen.ts";

/** With `convert-engines` and `convert-access` the only place that sees generated and domain types together. */

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

/** The same number in requests that have passed the rules: none of their bounds is beyond 2^53. */
export function numberFromLong(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

export function pathFromMessage(path: pb.Path): AnalysisRequest["path"] {
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
  const { fen, moves, depth, nodes, multipv, movetimeMs, searchMoves, engine, path, options } = message;
  return {
    fen,
    ...(moves.length > 0 && { moves }),
    ...(depth !== undefined && { depth }),
    ...(nodes !== undefined && { nodes: Number(nodes) }),
    ...(multipv !== undefined && { multipv }),
    ...(movetimeMs !== undefined && { movetime_ms: movetimeMs }),
    ...(searchMoves.length > 0 && { search_moves: searchMoves }),
    ...(engine !== undefined && { engine }),
    ...(path !== pb.Path.UNSPECIFIED && { path: pathFromMessage(path) }),
    ...(options && { options }),
  };
}

/** The request that {@link plainFromMessage} wrote, or one like it. */
export function messageFromPlain(plain: Readonly<Record<string, unknown>>): pb.AnalysisRequest {
  const {
    nodes,
    movetime_ms: movetimeMs,
    search_moves: searchMoves,
    path,
    ...others
  } = plain as PlainRequest;
  return create(pb.AnalysisRequestSchema, {
    ...others,
    ...(nodes !== undefined && { nodes: BigInt(nodes) }),
    ...(movetimeMs !== undefined && { movetimeMs }),
    ...(searchMoves && { searchMoves: [...searchMoves] }),
    ...(path && { path: enumValue(pb.Path, path) }),
  });
}

type PlainRequest = Omit<
  MessageInitShape<typeof pb.AnalysisRequestSchema>,
  "$typeName" | "nodes" | "movetimeMs" | "searchMoves" | "path"
> & {
  readonly nodes?: number;
  readonly movetime_ms?: number;
  readonly search_moves?: readonly string[];
  readonly path?: AnalysisRequest["path"];
};

type Answer = MessageInitShape<typeof EvaluateResponseSchema>;

/** Of a request that comes again, and the lines that it was answered with. */
interface KnownAnswer {
  readonly lines: Analysis["lines"];
  readonly answer: Answer;
}

const knownAnswers = new WeakMap<JudgedRequest, KnownAnswer>();

/** One shape for both answers: FindBestMoveResponse has the fields of EvaluateResponse. */
export function messageFromAnalysis(analysis: Analysis): Answer {
  const { request, lines, cached, queueMs } = analysis;
  if (!cached || queueMs > 0 || !Object.isFrozen(request)) {
    return { ...answerFromAnalysis(analysis), id: uuidv7() };
  }
  // The same findings, asked for in the same words: only the id differs.
  let known = knownAnswers.get(request);
  if (known?.lines !== lines) {
    known = { lines, answer: freezeWhole(create(EvaluateResponseSchema, answerFromAnalysis(analysis))) };
    knownAnswers.set(request, known);
  }
  return { ...known.answer, id: uuidv7() };
}

function answerFromAnalysis(analysis: Analysis): Answer {
  const { request, best, cached } = analysis;
  const { position, build } = request;
  const { terminal, drawClaim, turn } = position;
  return {
    fen: position.fen,
    turn: enumValue(pb.Color, turn),
    chess960: position.chess960,
    score: terminal
      ? scoreMessage(analysis.score, terminal.winner)
      : messageFromScore(analysis.score, 0, cached),
    lines: analysis.lines.map((line, index) => messageFromLine(line, index, cached)),
    search: messageFromSearch(analysis),
    warnings: analysis.warnings.map(({ code, message, field }) => ({
      code,
      message,
      ...(field && { field }),
    })),
    summary: summarize({ score: analysis.score, bestMoveSan: best?.san, terminal, turn }),
    // Last, because fields behind a spread are made by V8's runtime. In a finished game no engine was asked.
    ...(!terminal && { engine: messageFromBuild(build) }),
    ...(best && { bestMove: messageFromMove(best, 0, cached) }),
    ...(analysis.ponder && { ponder: messageFromMove(analysis.ponder, 0, cached) }),
    ...(terminal && {
      terminal: {
        reason: enumValue(pb.TerminalReason, terminal.reason),
        result: terminal.result,
        ...(terminal.winner && { winner: enumValue(pb.Color, terminal.winner) }),
      },
    }),
    ...(drawClaim && { drawClaimable: enumValue(pb.DrawClaim, drawClaim) }),
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
  // The counters of a kept answer are those of its search.
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

/** @param winner of a game that is over. */
export function scoreMessage(
  score: Score,
  winner?: "white" | "black",
): MessageInitShape<typeof pb.ScoreSchema> {
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

export const messageFromBuild = memoize(pb.EngineRefSchema, ({ id, name, version, path }: EngineBuild) => ({
  id,
  name,
  version,
  path: enumValue(pb.Path, path),
}));

export const messageFromMove = memoize(
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

/**
 * A conversion whose messages are made once for each value, and frozen: so whoever writes them may keep what
 * was written. Unless they are said not to be worth keeping: what is kept beside a value that nobody asks for again
 * outlives it until all of memory is searched for garbage.
 *
 * @param convert is given the place where the value stands, which must always be the same.
 */
export function memoize<T extends object, D extends DescMessage>(
  desc: D,
  convert: (value: T, index: number, keep: boolean) => MessageInitShape<D>,
): (value: T, index?: number, keep?: boolean) => MessageShape<D> {
  const made = new WeakMap<T, MessageShape<D>>();
  return (value, index = 0, keep = true) => {
    if (!keep) {
      return create(desc, convert(value, index, false));
    }
    const known = made.get(value);
    if (known) {
      return known;
    }
    const message = create(desc, convert(value, index, true));
    freezeWhole(message);
    made.set(value, message);
    return message;
  };
}

/** Of each enum its values by lower-case word: to write a word in capitals and to look that up takes longer than to find it. */
const numbersByWord = new WeakMap<object, ReadonlyMap<string, number>>();

/** The value of an enum by its lower-case word: `server_limit` is STOP_REASON_SERVER_LIMIT. */
export function enumValue<E extends Readonly<Record<string, number | string>>>(
  values: E,
  word: Lowercase<keyof E & string>,
): Extract<E[keyof E], number> {
  const known = numbersByWord.get(values) ?? wordsOf(values);
  return known.get(word) as Extract<E[keyof E], number>;
}

/** Names stand beside numbers in an enum of TypeScript, and each is found by the other. */
function wordsOf(values: Readonly<Record<string, number | string>>): ReadonlyMap<string, number> {
  const named = Object.entries(values).filter(
    (entry): entry is [string, number] => typeof entry[1] === "number",
  );
  const byWord = new Map(named.map(([name, number]) => [name.toLowerCase(), number]));
  numbersByWord.set(values, byWord);
  return byWord;
}
