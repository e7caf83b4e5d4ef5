import { type DescMethod, isMessage, type Message } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import type { CallKind } from "../access/admit-call.ts";
import { costOfMoves } from "../errors/errors.ts";

const { evaluate, findBestMove, streamEvaluate, evaluateBatch } = AnalysisService.method;
const { reviewGame } = GameService.method;
const counted: ReadonlySet<DescMethod> = new Set<DescMethod>([
  evaluate,
  findBestMove,
  streamEvaluate,
  evaluateBatch,
  reviewGame,
]);

/** Calls whose requests are lists of requests. */
export const batchMethods: readonly DescMethod[] = [evaluateBatch];

/** Calls that ask for many searches. */
const long: ReadonlySet<DescMethod> = new Set<DescMethod>([evaluateBatch, reviewGame]);

/** True if calls of a method count against limits: analyses do; information about the service does not. */
export function isCounted(method: DescMethod): boolean {
  return counted.has(method);
}

export function kindOfCall(method: DescMethod): CallKind {
  if (long.has(method)) {
    return "long";
  }
  return isCounted(method) ? "limited" : "call";
}

/** Bytes of the largest request of a method in plain JSON, before and after decompression. */
export function readMaxBytesOf(method: DescMethod): number {
  return maxBytesOf.get(method) ?? (isCounted(method) ? requestMaxBytes : smallMaxBytes);
}

/**
 * Bytes of the largest request of a method over Connect, gRPC and gRPC-Web. A batch is smaller than in plain JSON, because Connect
 * decodes a message in one go, and takes up to 30 ms for 256 KiB.
 */
export function rpcMaxBytesOf(method: DescMethod): number {
  return batchMethods.includes(method) ? batchMessageMaxBytes : readMaxBytesOf(method);
}

const batchMessageMaxBytes = 256 * 1024;

/** Bytes of a request that is no analysis: a name, a query, a question of a tool. To decode 64 KiB takes 7 ms. */
const smallMaxBytes = 4 * 1024;

/** Bytes of an analysis, unless its method takes longer ones. */
export const requestMaxBytes = 64 * 1024;

const maxBytesOf: ReadonlyMap<DescMethod, number> = new Map<DescMethod, number>([
  // 200 requests of 5 KiB, which is a long game each.
  [evaluateBatch, 1024 * 1024],
  // A PGN of 256 KiB, which JSON writes with escapes.
  [reviewGame, 512 * 1024],
]);

/** How many times the refusal of a request counts in the error quota: more if a game was played to find the fault. */
export function costOf(message: Message): number {
  return isMessage(message, evaluate.input)
    ? costOfMoves(message.moves.length + message.searchMoves.length)
    : 1;
}
