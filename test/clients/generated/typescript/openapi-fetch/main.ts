/**
 * Calls Kibitz with openapi-fetch and the types from openapi-typescript.
 * Usage: `main.ts <address> <address of a newer Kibitz>`
 */
import createClient from "openapi-fetch";
import type { paths } from "./kibitz.ts";

const [kibitz, newer] = process.argv
  .slice(2)
  .map((baseUrl) => createClient<paths, "application/json" | "application/problem+json">({ baseUrl }));
if (!kibitz || !newer) {
  throw new Error("two addresses are needed");
}
const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
const { data: evaluation } = await kibitz.POST("/v1/eval", { body: { fen } });
const { error: problem } = await kibitz.POST("/v1/eval", { body: { fen: `FEN: ${fen}` } });
const mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";
const requests = [{ fen, depth: 8 }, { fen: mate, depth: 8 }, { fen: "no position" }];
const { data: batch } = await kibitz.POST("/v1/eval/batch", { body: { requests } });
const game = { moves: ["f3", "e5", "g4", "Qh4#"], depth: 8 };
const { data: review } = await kibitz.POST("/v1/review", { body: game });
const { data: newerEvaluation } = await newer.POST("/v1/eval", { body: { fen } });
const { data: newerReview } = await newer.POST("/v1/review", { body: game });

const answers = {
  evaluation,
  problem,
  batch,
  review,
  newer_evaluation: newerEvaluation,
  newer_review: newerReview,
};
if (!evaluation || !problem || !batch || !review || !newerEvaluation || !newerReview) {
  throw new Error(JSON.stringify(answers));
}
console.log(
  JSON.stringify({
    answers,
    fields: {
      cp: evaluation.score.cp,
      mate: evaluation.score.mate,
      best: evaluation.best_move?.uci,
      promotion: evaluation.best_move?.promotion,
      terminal: evaluation.terminal,
      code: problem.code,
      pointers: problem.errors.map(({ pointer }) => pointer),
      retry_after_ms: problem.retry_after_ms,
      mates: batch.map(({ result }) => result?.score.mate ?? null),
      codes: batch.map(({ problem }) => problem?.code ?? null),
      judgements: review.moves.map(({ judgement }) => judgement),
      bound: newerEvaluation.score.bound,
      stop_reason: newerEvaluation.search.stop_reason,
      phases: newerReview.moves.map(({ phase }) => phase),
    },
  }),
);
