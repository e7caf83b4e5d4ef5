import type { Analysis } from "../analysis/analysis.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { Terms } from "../analysis/flight.ts";
import type { QueuePosition } from "../analysis/scheduler.ts";
import type { ReviewedGame } from "../calls/convert-review.ts";
import { createReorderBuffer } from "../calls/reorder-buffer.ts";
import { KibitzError } from "../errors/errors.ts";
import { annotate } from "../game/annotate.ts";
import type { Openings } from "../game/find-opening.ts";
import { createReviewer, type MoveReview } from "../game/review.ts";
import { inTurns, type Turn } from "../thread/time-slices.ts";
import { now } from "../time/time.ts";
import { inSpan } from "../tracing/spans.ts";
import { retryOverloaded, runConcurrently } from "./many-searches.ts";
import type { ValidatedReview } from "./validate-review.ts";

export type ReviewStep =
  /** No search of the review has begun yet. */
  | { readonly kind: "waiting"; readonly at: QueuePosition }
  | { readonly kind: "move"; readonly move: MoveReview; readonly tablebase: Analysis["tablebase"] }
  | { readonly kind: "review"; readonly reviewed: ReviewedGame };

export interface ReviewOptions {
  readonly analyzer: Analyzer;
  readonly openings: Openings;
  readonly flow: string;
  readonly searchesAtOnce: number;
  /** Pauses the review regularly. Without pauses, a review with only cached positions would block the thread. */
  readonly turn: Turn;
  /** Begins to charge a search. Disposing of `held` charges the engine time. If this function is undefined, searches are not counted. */
  readonly chargeSearch?: (
    request: ValidatedReview["requests"][number],
    signal: AbortSignal,
    held: DisposableStack,
  ) => Promise<Terms>;
}

/**
 * If a search fails with `overloaded`, retries the search while other searches make progress. Does not retry the first search.
 * Throws `shutting_down` if the server stops during a search. Throws the abort reason of `signal`.
 */
export async function* reviewGame(
  { game, requests }: Pick<ValidatedReview, "game" | "requests">,
  { analyzer, openings, flow, searchesAtOnce, turn, chargeSearch }: ReviewOptions,
  signal: AbortSignal,
): AsyncGenerator<ReviewStep> {
  const reviewer = createReviewer(game, openings.find(game.positions));
  const analyses: Analysis[] = [];
  const inOrder = createReorderBuffer<Analysis>();
  let place: QueuePosition | undefined;
  let placeChanged = Promise.withResolvers<void>();
  // Retry a search while other searches make progress, because the other searches may belong to the same game.
  let progressedAt = now();
  /** Until an engine has begun a search of this review, the review yields its queue position. */
  let hasBegun = false;

  async function search(index: number, either: AbortSignal): Promise<Analysis> {
    const request = at(requests, index);
    if (request.position.terminal) {
      return analyzer.analyze(request, flow, either);
    }
    using held = new DisposableStack();
    const terms = await chargeSearch?.(request, either, held);
    if (hasBegun) {
      // Do not remove this `await`: `terms` would be disposed of at once, and no engine time be charged.
      return await analyzer.analyze(request, flow, either, terms);
    }
    let last: Analysis | undefined;
    for await (const event of analyzer.follow(request, flow, either, terms)) {
      if (event.kind === "state") {
        last = event.analysis;
        hasBegun ||= !last.cached;
      } else if (!hasBegun && index === analyses.length) {
        place = event.at;
        placeChanged.resolve();
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
      // Reject the review, because the search was stopped before its depth was reached.
      throw new KibitzError("shutting_down", "This server is stopping, and the review has not ended.", {
        retryAfterMs: 5000,
      });
    }
    progressedAt = now();
    analyses.push(...inOrder(index, analysis));
  }

  const left = new AbortController();
  const done = runConcurrently(
    requests.length,
    searchesAtOnce,
    (index, either) =>
      inSpan("position", { attributes: { "kibitz.index": index }, signal: either }, async (span) => {
        await evaluate(index, either);
        span?.setAttribute("kibitz.code", "ok");
      }),
    AbortSignal.any([signal, left.signal]),
  );
  const readNext = () => {
    const next = done.next();
    // Handle the rejection here, because no code awaits this promise after the reader has stopped.
    next.catch(() => {});
    return next;
  };
  const moves: MoveReview[] = [];
  try {
    for (let next = readNext(); ; ) {
      const step = await (hasBegun ? next : Promise.race([next, placeChanged.promise]));
      if (step === undefined) {
        placeChanged = Promise.withResolvers();
        if (place) {
          yield { kind: "waiting", at: place };
        }
        continue;
      }
      if (step.done) {
        break;
      }
      next = readNext();
      while (moves.length + 1 < analyses.length) {
        await turn();
        const index = moves.length;
        const after = at(analyses, index + 1);
        const move = reviewer.move(index, at(analyses, index), after);
        moves.push(move);
        yield { kind: "move", move, tablebase: after.tablebase };
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
