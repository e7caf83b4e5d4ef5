import { type DescMethod, isMessage, type Message } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import type { CallKind } from "../access/admit-call.ts";
import { costOfMoves } from "../errors/errors.ts";

const { evaluate, findBestMove, streamEvaluate, evaluateBatch, probeTablebase } = AnalysisService.method;
const { reviewGame } = GameService.method;
const counted: ReadonlySet<DescMethod> = new Set<DescMethod>([
  evaluate,
  findBestMove,
  streamEvaluate,
  evaluateBatch,
  reviewGame,
  probeTablebase,
]);

export const batchMethods: readonly DescMethod[] = [evaluateBatch];

const long: ReadonlySet<DescMethod> = new Set<DescMethod>([evaluateBatch, reviewGame]);

/** Returns true for calls about a position or a game. Other methods only return information about the service. */
export function isCounted(method: DescMethod): boolean {
  return counted.has(method);
}

export function kindOfCall(method: DescMethod): CallKind {
  if (long.has(method)) {
    return "long";
  }
  return isCounted(method) ? "limited" : "call";
}

/** Returns the maximum size of a plain JSON request in bytes. The maximum applies before and after decompression. */
export function readMaxBytesOf(method: DescMethod): number {
  return maxBytesOf.get(method) ?? (isCounted(method) ? requestMaxBytes : smallMaxBytes);
}

/**
 * Returns the maximum size over Connect and gRPC. For a batch, this is less than in plain JSON: decoding 256 KiB takes up to 30
 * ms.
 */
export function rpcMaxBytesOf(method: DescMethod): number {
  return batchMethods.includes(method) ? batchMessageMaxBytes : readMaxBytesOf(method);
}

const batchMessageMaxBytes = 256 * 1024;

/** The maximum size of a request that needs no engine. Decoding 64 KiB would take 7 ms. */
const smallMaxBytes = 4 * 1024;

/** The maximum size of an analysis request, except for batches and reviews. */
export const requestMaxBytes = 64 * 1024;

const maxBytesOf: ReadonlyMap<DescMethod, number> = new Map<DescMethod, number>([
  // 200 requests of 5 KiB, each with a long game.
  [evaluateBatch, 1024 * 1024],
  // A PGN may have 256 KiB. Escapes make its JSON longer.
  [reviewGame, 512 * 1024],
  [probeTablebase, smallMaxBytes],
]);

/** Returns the cost of an error in the caller's error quota. If the request has many moves, the cost is higher. */
export function costOf(message: Message): number {
  if (isMessage(message, evaluate.input)) {
    return costOfMoves(message.moves.length + message.searchMoves.length);
  }
  return isMessage(message, reviewGame.input) ? costOfMoves(message.moves.length) : 1;
}
