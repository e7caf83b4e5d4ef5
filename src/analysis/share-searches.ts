import type { AnswerCache, SearchClaims, SharedAnswers } from "../storage/ports.ts";
import { inSpan } from "../tracing/spans.ts";
import type { SearchResult } from "./analysis.ts";
import type { SharedState, Sharing } from "./flight.ts";

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

  return {
    async run({ key, flightKey, search, signal, streamed }) {
      for (;;) {
        // Request the claim before reading the results: a node writes its result before it releases its claim.
        const claiming = claims.claim(flightKey);
        const found = await lookUp(key);
        using claim = await claiming;
        signal.throwIfAborted();
        if (found) {
          cache.set(key, found);
          return stateOf(found, true);
        }
        if (claim.kind === "held" || streamed.aborted) {
          const last = await search();
          const result = last.result();
          if (result.deterministic) {
            answers.set(key, result);
          }
          // Do not share the result of a search that was stopped by a shutdown: the waiting nodes run their own searches.
          if (claim.kind === "held" && result.endedBy !== "stop") {
            claim.publish(result);
          }
          return last;
        }
        const answer = await inSpan("wait for another node", { signal }, () =>
          claim.answer(AbortSignal.any([signal, streamed])),
        );
        signal.throwIfAborted();
        if (answer) {
          if (answer.deterministic) {
            cache.set(key, answer);
          }
          return stateOf(answer, false);
        }
      }
    },
  };
}

function stateOf(result: SearchResult, cached: boolean): SharedState {
  return {
    kind: "state",
    result: () => result,
    depth: result.depth,
    askedAt: performance.now(),
    queueMs: 0,
    engineMs: result.counters.timeMs,
    cached,
  };
}
