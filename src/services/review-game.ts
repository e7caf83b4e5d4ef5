import type { Analysis } from "../analysis/analysis.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { Terms } from "../analysis/flight.ts";
import type { PlaceInQueue } from "../analysis/scheduler.ts";
import type { ReviewedGame } from "../calls/convert-review.ts";
import { KibitzError } from "../errors/errors.ts";
import { annotate } from "../game/annotate.ts";
import type { Openings } from "../game/openings.ts";
import { createReviewer, type MoveReview } from "../game/review.ts";
import { inTurns, type Turn } from "../thread/event-loop.ts";
import { type EachWatched, retryOverloaded, runConcurrently, unwatched } from "./batch.ts";
import type { JudgedReview } from "./judge-review.ts";

/** What happens to a review: its moves in their order, and the whole last. */
export type ReviewStep =
  /** No search has begun yet. */
  | { readonly kind: "waiting"; readonly at: PlaceInQueue }
  | { readonly kind: "move"; readonly move: MoveReview }
  | { readonly kind: "review"; readonly reviewed: ReviewedGame };

export interface ReviewOptions {
  readonly analyzer: Analyzer;
  readonly openings: Openings;
  /** Whose work the searches are: a flow of the review's own, which shares the engines with all others evenly. */
  readonly flow: string;
  /** How many searches may be under way: one more than the slots keeps them all busy. */
  readonly searchesAtOnce: number;
  /** Slices of the thread: where everything is known, nothing else would let others in between. */
  readonly turn: Turn;
  /** Lets a search in, and counts what it takes when it is disposed of; unset where nobody counts. */
  readonly admit?: (
    request: JudgedReview["requests"][number],
    signal: AbortSignal,
  ) => Promise<{ readonly terms: Terms } & Disposable>;
  /** Told of each position that is evaluated. */
  readonly onPosition?: () => void;
  /** Makes of what evaluates a position one that is watched, too. */
  readonly watched?: EachWatched | undefined;
}

/**
 * Reviews a game: each of its positions is a search like any other, and some are under way at a time. A position whose
 * search is refused as `overloaded` waits as long as others go on; where it is the first, so is the review.
 *
 * @throws KibitzError, `shutting_down` where a search was cut short; the reason of `signal`
 */
export async function* reviewGame(
  { game, requests }: Pick<JudgedReview, "game" | "requests">,
  { analyzer, openings, flow, searchesAtOnce, turn, admit, onPosition, watched = unwatched }: ReviewOptions,
  signal: AbortSignal,
): AsyncGenerator<ReviewStep> {
  const reviewer = createReviewer(game, openings.find(game.positions));
  const analyses: Analysis[] = [];
  const found: (Analysis | undefined)[] = requests.map(() => undefined);
  let place: PlaceInQueue | undefined;
  let placeTold = Promise.withResolvers<void>();
  // What keeps a search waiting is its own game: it waits as long as the others go on.
  let progressedAt = performance.now();
  /** Whether an engine was asked: until then it is told how long that takes. */
  let hasBegun = false;

  async function search(index: number, either: AbortSignal): Promise<Analysis> {
    const request = at(requests, index);
    if (request.position.terminal) {
      return analyzer.analyze(request, flow, either);
    }
    using admitted = await admit?.(request, either);
    if (hasBegun) {
      // Not before it is there: what was admitted would else be over at once, and cost nothing.
      return await analyzer.analyze(request, flow, either, admitted?.terms);
    }
    let last: Analysis | undefined;
    for await (const event of analyzer.follow(request, flow, either, admitted?.terms)) {
      if (event.kind === "state") {
        last = event.analysis;
        hasBegun ||= !last.cached;
      } else if (!hasBegun && index === analyses.length) {
        place = event.at;
        placeTold.resolve();
      }
    }
    if (last === undefined) {
      throw new Error("a search ended without a state");
    }
    return last;
  }

  async function evaluate(index: number, either: AbortSignal): Promise<void> {
    const isFirst = () => !hasBegun && index === analyses.length;
    const analysis = await retryOverloaded(() => search(index, either), either, {
      progressedAt: () => (isFirst() ? Number.NEGATIVE_INFINITY : progressedAt),
    });
    if (analysis.cutShort) {
      // What was found in the time that was left is no answer to what was asked.
      throw new KibitzError("shutting_down", "This server is stopping, and the review has not ended.", {
        retryAfterMs: 5000,
      });
    }
    progressedAt = performance.now();
    found[index] = analysis;
    for (let next = found[analyses.length]; next !== undefined; next = found[analyses.length]) {
      analyses.push(next);
    }
    onPosition?.();
  }

  const left = new AbortController();
  const done = runConcurrently(
    requests.length,
    searchesAtOnce,
    watched("position", evaluate),
    AbortSignal.any([signal, left.signal]),
  );
  const ask = () => {
    const asked = done.next();
    // It is looked at later, or by nobody who reads on.
    asked.catch(() => {});
    return asked;
  };
  const moves: MoveReview[] = [];
  try {
    for (let next = ask(); ; ) {
      const step = await (hasBegun ? next : Promise.race([next, placeTold.promise]));
      if (step === undefined) {
        placeTold = Promise.withResolvers();
        if (place) {
          yield { kind: "waiting", at: place };
        }
        continue;
      }
      if (step.done) {
        break;
      }
      next = ask();
      while (moves.length + 1 < analyses.length) {
        await turn();
        const index = moves.length;
        const move = reviewer.move(index, at(analyses, index), at(analyses, index + 1));
        moves.push(move);
        yield { kind: "move", move };
      }
    }
    await turn();
    const review = reviewer.game(moves, analyses);
    const pgn = await inTurns(annotate(game, review), turn);
    yield { kind: "review", reviewed: { game, review, analyses, pgn } };
  } finally {
    left.abort(new Error("the reader left"));
    await done.return(undefined).catch(() => {});
  }
}

function at<T>(all: readonly T[], index: number): T {
  const one = all[index];
  if (one === undefined) {
    throw new RangeError(`there is no position ${index}`);
  }
  return one;
}
