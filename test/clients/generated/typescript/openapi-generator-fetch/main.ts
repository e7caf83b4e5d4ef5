/**
 * Calls Kibitz with what openapi-generator has generated for TypeScript and fetch.
 * Usage: `main.js <address> <address of a newer Kibitz>`
 */
import {
  AnalysisApi,
  Configuration,
  EvaluateBatchResultToJSON,
  EvaluateResultToJSON,
  GameApi,
  GameReviewToJSON,
  ProblemFromJSON,
  ProblemToJSON,
  ResponseError,
} from "./client";

async function main([address, newerAddress]: readonly string[]): Promise<void> {
  const kibitz = new Configuration({ basePath: address });
  const newer = new Configuration({ basePath: newerAddress });
  const analysis = new AnalysisApi(kibitz);
  const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
  const evaluation = await analysis.evaluate({ analysisRequest: { fen } });
  const refusal = await analysis
    .evaluate({ analysisRequest: { fen: `FEN: ${fen}` } })
    .catch((error) => error);
  if (!(refusal instanceof ResponseError)) {
    throw new Error("a text around a FEN was answered", { cause: refusal });
  }
  const problem = ProblemFromJSON(await refusal.response.json());
  const mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";
  const requests = [{ fen, depth: 8 }, { fen: mate, depth: 8 }, { fen: "no position" }];
  const batch = await analysis.evaluateBatch({ evaluateBatchRequest: { requests } });
  const game = { reviewGameRequest: { moves: ["f3", "e5", "g4", "Qh4#"], depth: 8 } };
  const review = await new GameApi(kibitz).reviewGame(game);
  const newerEvaluation = await new AnalysisApi(newer).evaluate({ analysisRequest: { fen } });
  const newerReview = await new GameApi(newer).reviewGame(game);

  console.log(
    JSON.stringify({
      answers: {
        evaluation: EvaluateResultToJSON(evaluation),
        problem: ProblemToJSON(problem),
        batch: batch.map((item) => EvaluateBatchResultToJSON(item)),
        review: GameReviewToJSON(review),
        newer_evaluation: EvaluateResultToJSON(newerEvaluation),
        newer_review: GameReviewToJSON(newerReview),
      },
      fields: {
        cp: evaluation.score.cp,
        mate: evaluation.score.mate,
        best: evaluation.bestMove?.uci,
        promotion: evaluation.bestMove?.promotion,
        terminal: evaluation.terminal,
        code: problem.code,
        pointers: problem.errors.map(({ pointer }) => pointer),
        retry_after_ms: problem.retryAfterMs,
        mates: batch.map(({ result }) => result?.score.mate ?? null),
        codes: batch.map(({ problem }) => problem?.code ?? null),
        judgements: review.moves.map(({ judgement }) => judgement),
        bound: newerEvaluation.score.bound,
        stop_reason: newerEvaluation.search.stopReason,
        phases: newerReview.moves.map(({ phase }) => phase),
      },
    }),
  );
}

void main(process.argv.slice(2));
