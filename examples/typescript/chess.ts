import { type Score, TablebaseCategorySchema } from "./gen/chess/analysis/v1/analysis_pb.ts";
import type {
  EvaluateResponse,
  ProbeTablebaseResponse,
  StreamEvaluateResponse,
} from "./gen/chess/analysis/v1/analysis_service_pb.ts";

export const italianGame = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";

export const pawnEnding = "8/1P6/8/3k4/8/8/8/K7 w - - 0 1";
export const foolsMate = "1. f3 e5 2. g4 Qh4# 0-1";
export const openings = [
  "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
  "rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
  "rnbqkbnr/pp1ppppp/2p5/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
  "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
  "rnbqkbnr/ppp1pppp/8/3p4/2PP4/8/PP2PPPP/RNBQKBNR b KQkq - 0 2",
];

export function answerText({ bestMove, score, search }: EvaluateResponse): string {
  return `best move ${bestMove?.san}, ${scoreText(score)} (White's view), depth ${search?.depth}`;
}

export function tableText({ tablebase, moves }: ProbeTablebaseResponse): string {
  const category = TablebaseCategorySchema.value[tablebase?.category ?? 0]?.localName.toLowerCase();
  return `tablebase: ${category}, best move ${moves[0]?.san}`;
}

/** Describes an event of a stream: a queue position, or an evaluation. Only the last evaluation has a stop reason. */
export function eventText({ event }: StreamEvaluateResponse): string {
  switch (event.case) {
    case "queued":
      return `place ${event.value.place} in the queue`;
    case "evaluation": {
      const { bestMove, score, search } = event.value;
      return `depth ${search?.depth}: ${scoreText(score)} ${bestMove?.san}${search?.stopReason ? " final" : ""}`;
    }
    default:
      return "something new";
  }
}

function scoreText(score: Score | undefined): string {
  const { case: kind, value = 0 } = score?.value ?? {};
  return kind === "mate" ? `mate in ${value}` : `${value < 0 ? "" : "+"}${(value / 100).toFixed(2)}`;
}
