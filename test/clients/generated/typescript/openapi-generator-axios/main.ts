/**
 * Calls Kibitz with what openapi-generator has generated for TypeScript and axios.
 * Usage: `main.js <address> <address of a newer Kibitz>`
 */
import { isAxiosError } from "axios";
import { AnalysisApi, Configuration, GameApi, type Problem } from "./client";

async function main([address, newerAddress]: readonly string[]): Promise<void> {
  const kibitz = new Configuration({ basePath: address });
  const newer = new Configuration({ basePath: newerAddress });
  const analysis = new AnalysisApi(kibitz);
  const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";
  const { data: evaluation } = await analysis.evaluate({ fen });
  const refusal = await analysis.evaluate({ fen: `FEN: ${fen}` }).catch((error) => error);
  if (!isAxiosError<Problem>(refusal) || !refusal.response) {
    throw new Error("a text around a FEN was answered", { cause: refusal });
  }
  const { data: problem } = refusal.response;
  const mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";
  const requests = [{ fen, depth: 8 }, { fen: mate, depth: 8 }, { fen: "no position" }];
  const { data: batch } = await analysis.evaluateBatch({ requests });
  const game = { moves: ["f3", "e5", "g4", "Qh4#"], depth: 8 };
  const { data: review } = await new GameApi(kibitz).reviewGame(game);
  const { data: newerEvaluation } = await new AnalysisApi(newer).evaluate({ fen });
  const { data: newerReview } = await new GameApi(newer).reviewGame(game);

  console.log(
    JSON.stringify({
      answers: {
        evaluation,
        problem,
        batch,
        review,
        newer_evaluation: newerEvaluation,
        newer_review: newerReview,
      },
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
}

void main(process.argv.slice(2));
