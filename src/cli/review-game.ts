import type { Analysis, AnalysisRequest } from "../analysis/analysis.ts";
import { judgeSearch } from "../analysis/judge-request.ts";
import { annotate } from "../game/annotate.ts";
import { type Game, gameFromPgn } from "../game/game.ts";
import type { Openings } from "../game/openings.ts";
import type { PgnSource } from "../game/pgn-error.ts";
import { readPgn } from "../game/read-pgn.ts";
import { createReviewer, type GameReview } from "../game/review.ts";
import { retryOverloaded, runConcurrently } from "../services/batch.ts";
import { inOneGo } from "../thread/event-loop.ts";
import type { Local } from "./open-local.ts";

/** A game with all that is known of it. */
export interface ReviewedGame {
  readonly game: Game;
  readonly review: GameReview;
  /** Of each position, the start first. */
  readonly analyses: readonly Analysis[];
  /** The annotated game. */
  readonly pgn: string;
}

/** @throws KibitzError for a text that is no game as it was meant, with the place */
export function readGame(source: PgnSource): Game {
  return inOneGo(gameFromPgn(inOneGo(readPgn(source))));
}

/**
 * Reviews a game: each of its positions is a search like any other, as many at a time as there are slots.
 *
 * @param asked of every position
 * @param onPosition is told of each that is done
 * @throws KibitzError; the reason of `signal`
 */
export async function reviewGame(
  game: Game,
  asked: AnalysisRequest,
  { local, openings }: { readonly local: Local; readonly openings: Openings },
  signal: AbortSignal,
  onPosition: () => void,
): Promise<ReviewedGame> {
  const { analyzer, engines, searchesAtOnce } = local;
  const { positions } = game;
  const requests = await Promise.all(positions.map((position) => judgeSearch(asked, position, engines)));
  // What keeps a search waiting is its own game: it waits as long as the others go on.
  let progressedAt = performance.now();
  const found: { readonly index: number; readonly analysis: Analysis }[] = [];
  const analyze = async (index: number, either: AbortSignal) => {
    const request = at(requests, index);
    const analysis = await retryOverloaded(() => analyzer.analyze(request, "cli", either), either, {
      since: () => progressedAt,
    });
    progressedAt = performance.now();
    return { index, analysis };
  };
  for await (const one of runConcurrently(requests.length, searchesAtOnce, analyze, signal)) {
    found.push(one);
    onPosition();
  }
  const analyses = found.toSorted((a, b) => a.index - b.index).map(({ analysis }) => analysis);
  const reviewer = createReviewer(game, openings.find(positions));
  const moves = game.moves.map((_, index) =>
    reviewer.move(index, at(analyses, index), at(analyses, index + 1)),
  );
  const review = reviewer.game(moves, analyses);
  return { game, review, analyses, pgn: inOneGo(annotate(game, review)) };
}

function at<T>(all: readonly T[], index: number): T {
  const one = all[index];
  if (one === undefined) {
    throw new RangeError(`there is no position ${index}`);
  }
  return one;
}
