import type { AnswerCache, SearchClaims, SharedAnswers, WatchedSearch } from "../storage/ports.ts";
import { now } from "../time/time.ts";
import { inSpan } from "../tracing/spans.ts";
import type { SearchResult } from "./analysis.ts";
import type { SharedFlight, SharedState, Sharing } from "./flight.ts";
import type { Slot } from "./scheduler.ts";

export interface SharingOptions {
  readonly claims: SearchClaims<SearchResult>;
  readonly answers: SharedAnswers<SearchResult>;
  readonly cache: AnswerCache<SearchResult>;
}

/** If communication between nodes fails, each node runs its own searches. */
export function createSharing({ claims, answers, cache }: SharingOptions): Sharing {
  const lookUp = (key: string) =>
    inSpan("cache shared", { attributes: { "kibitz.cache.tier": "shared" } }, async (span) => {
      const found = await answers.get(key);
      span?.setAttribute("kibitz.cache.hit", found !== undefined);
      return found;
    });

  /** Waits for a slot. Resolves with undefined if another node begins the search first. */
  async function enterOrLeave(
    { enter, signal, streamed }: SharedFlight,
    watched: WatchedSearch<SearchResult>,
  ): Promise<Slot | undefined> {
    const leaving = new AbortController();
    const entered = new AbortController();
    watched.taken(AbortSignal.any([signal, streamed, entered.signal])).then(
      () => entered.signal.aborted || leaving.abort(new Error("another node has begun the search")),
      // Ignore the abort reason: this node has a slot, or must search for a stream.
      () => {},
    );
    try {
      return await enter(AbortSignal.any([signal, leaving.signal]));
    } catch (error) {
      signal.throwIfAborted();
      if (leaving.signal.aborted) {
        return undefined;
      }
      throw error;
    } finally {
      entered.abort();
    }
  }

  return {
    async run(flight) {
      const { key, flightKey, search, signal, streamed } = flight;
      // Watch before you read the results: a node writes its result before it releases its claim.
      const watching = claims.watch(flightKey);
      const found = await lookUp(key);
      const watched = await watching;
      signal.throwIfAborted();
      if (found) {
        cache.set(key, found);
        return stateOf(found, true);
      }
      for (;;) {
        if (watched.isTaken && !streamed.aborted) {
          const answer = await inSpan("wait for another node", { signal }, () =>
            watched.answer(AbortSignal.any([signal, streamed])),
          );
          signal.throwIfAborted();
          if (answer) {
            if (answer.deterministic) {
              cache.set(key, answer);
            }
            return stateOf(answer, false);
          }
        }
        using slot = await enterOrLeave(flight, watched);
        if (slot === undefined) {
          continue;
        }
        // Claim the search only with a slot, so that no node waits for a search that only waits itself.
        using claim = await watched.claim();
        if (claim === undefined && !streamed.aborted) {
          continue;
        }
        const last = await search(slot);
        if (last === undefined) {
          continue;
        }
        const result = last.result();
        if (result.deterministic && flight.isKeyCurrent()) {
          answers.set(key, result);
        }
        // Do not share the result of a search that was stopped by a shutdown: the waiting nodes run their own searches.
        if (result.endedBy !== "stop") {
          claim?.publish(result);
        }
        return last;
      }
    },
  };
}

function stateOf(result: SearchResult, cached: boolean): SharedState {
  return {
    kind: "state",
    result: () => result,
    depth: result.depth,
    askedAt: now(),
    queueMs: 0,
    engineMs: result.counters.timeMs,
    cached,
  };
}
