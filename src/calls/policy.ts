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

/** Methods whose requests contain a list of requests. */
export const batchMethods: readonly DescMethod[] = [evaluateBatch];

const long: ReadonlySet<DescMethod> = new Set<DescMethod>([evaluateBatch, reviewGame]);

/** Analyses count against limits, and information about the service does not. */
export function isCounted(method: DescMethod): boolean {
  return counted.has(method);
}

export function kindOfCall(method: DescMethod): CallKind {
  if (long.has(method)) {
    return "long";
  }
  return isCounted(method) ? "limited" : "call";
}

/** The maximum request size in plain JSON, both before and after decompression. */
export function readMaxBytesOf(method: DescMethod): number {
  return maxBytesOf.get(method) ?? (isCounted(method) ? requestMaxBytes : smallMaxBytes);
}

/** The maximum request size over Connect and gRPC. Batches are smaller, because Connect would decode 256 KiB in up to 30 ms. */
export function rpcMaxBytesOf(method: DescMethod): number {
  return batchMethods.includes(method) ? batchMessageMaxBytes : readMaxBytesOf(method);
}

const batchMessageMaxBytes = 256 * 1024;

/** The maximum size of names, queries and tools' questions. Decoding 64 KiB takes 7 ms. */
const smallMaxBytes = 4 * 1024;

/** The maximum size of an analysis request, unless its method permits more. */
export const requestMaxBytes = 64 * 1024;

const maxBytesOf: ReadonlyMap<DescMethod, number> = new Map<DescMethod, number>([
  // 200 requests of 5 KiB, each with a long game.
  [evaluateBatch, 1024 * 1024],
  // A PGN may have 256 KiB, and JSON adds escapes to it.
  [reviewGame, 512 * 1024],
]);

/** The cost of a rejection in the error quota, higher if a game had to be played to find the violation. */
export function costOf(message: Message): number {
  return isMessage(message, evaluate.input)
    ? costOfMoves(message.moves.length + message.searchMoves.length)
    : 1;
}
