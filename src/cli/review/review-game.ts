import type { AnalysisRequest } from "../../analysis/analysis.ts";
import { judgeSearch } from "../../analysis/judge-request.ts";
import type { ReviewedGame } from "../../calls/convert-review.ts";
import type { Game } from "../../game/game.ts";
import type { Openings } from "../../game/openings.ts";
import { reviewGame } from "../../services/review-game.ts";
import type { Local } from "../open-local.ts";

/**
 * Reviews a game in this process, as the service does.
 *
 * @param asked of every position
 * @param onPosition is told of each that is done
 * @throws KibitzError; the reason of `signal`
 */
export async function reviewHere(
  game: Game,
  asked: AnalysisRequest,
  { local, openings }: { readonly local: Local; readonly openings: Openings },
  signal: AbortSignal,
  onPosition: () => void,
): Promise<ReviewedGame> {
  const { analyzer, engines, searchesAtOnce } = local;
  const requests = game.positions.map((position) => judgeSearch(asked, position, engines.catalog));
  const turn = local.beginWork();
  const options = { analyzer, openings, flow: "cli", searchesAtOnce, turn, onPosition };
  for await (const step of reviewGame({ game, requests }, options, signal)) {
    if (step.kind === "review") {
      return step.reviewed;
    }
  }
  throw new Error("the review ended without its end");
}
