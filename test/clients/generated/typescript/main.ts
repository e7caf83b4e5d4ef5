/**
 * Calls Kibitz with openapi-fetch and the types from openapi-typescript.
 * Usage: `main.ts <address>`
 */
import createClient from "openapi-fetch";
import type { paths } from "./kibitz.ts";

const [baseUrl = ""] = process.argv.slice(2);
const kibitz = createClient<paths, "application/json" | "application/problem+json">({ baseUrl });

const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
const first = await kibitz.POST("/v1/eval", { body: { fen } });
const refused = await kibitz.POST("/v1/eval", { body: { fen: "no position" } });
const mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";
const requests = [{ fen, depth: 8 }, { fen: mate, depth: 8 }, { fen: "no position" }];
const batch = await kibitz.POST("/v1/eval/batch", { body: { requests } });
const review = await kibitz.POST("/v1/review", { body: { moves: ["f3", "e5", "g4", "Qh4#"], depth: 8 } });

if (!first.data || !refused.error || !batch.data || !review.data) {
  throw new Error(JSON.stringify({ first, refused, batch, review }));
}
const problem = refused.error;
console.log(
  JSON.stringify({
    first: {
      cp: first.data.score.cp,
      best: first.data.best_move?.uci,
      bound: first.data.score.bound,
      summary: first.data.summary,
    },
    refused: {
      status: problem.status,
      code: problem.code,
      next_action: problem.next_action,
      pointers: problem.errors.map(({ pointer }) => pointer),
    },
    batch: batch.data.map(({ index, result, problem }) => ({
      index,
      cp: result?.score.cp ?? null,
      mate: result?.score.mate ?? null,
      problem: problem?.code ?? null,
    })),
    review: {
      summary: review.data.summary,
      judgements: review.data.moves.map(({ judgement }) => judgement),
    },
  }),
);
