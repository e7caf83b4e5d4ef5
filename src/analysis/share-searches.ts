import type { AnalysisCache, SharedSearches } from "../storage/ports.ts";
import { inSpan } from "../tracing/spans.ts";
import type { Findings } from "./analysis.ts";
import type { SharedEvent, SharedFlight, SharedState, Sharing } from "./flight.ts";

export interface SharingOptions {
  readonly searches: SharedSearches<Findings>;
  /** What all nodes know. */
  readonly answers: AnalysisCache<Findings>;
  /** What this one has at hand. */
  readonly cache: AnalysisCache<Findings>;
}

/**
 * Shares searches with other nodes. Who leads has a slot, so that nobody waits for a search that waits itself, and who
 * follows has none. Where anything goes wrong between nodes, each searches for itself.
 */
export function createSharing({ searches, answers, cache }: SharingOptions): Sharing {
  const lookUp = (key: string, signal: AbortSignal) =>
    inSpan("cache shared", { attributes: { "kibitz.cache.tier": "shared" } }, async (span) => {
      const found = await answers.get(key, signal);
      span?.setAttribute("kibitz.cache.hit", found !== undefined);
      return found;
    });

  function known(key: string, findings: Findings, cached: boolean): SharedState {
    cache.set(key, findings);
    return stateOf(findings, cached);
  }

  async function follow(flight: SharedFlight, tell: (state: SharedState) => void) {
    const { flightKey, signal, times } = flight;
    // Whoever leaves without an answer answers for the time from here on, as for a search of this node.
    times.begunAt = performance.now();
    try {
      const hear = (findings: Findings) => tell(stateOf(findings, false));
      const last = await searches.follow(flightKey, hear, signal);
      if (last?.deterministic) {
        cache.set(flight.key, last);
      }
      return last && stateOf(last, false);
    } finally {
      times.endedAt = performance.now();
      signal.throwIfAborted();
    }
  }

  return {
    async run(flight) {
      const { key, flightKey, signal } = flight;
      const deeper = onlyDeeper(flight.publish);
      let letIn = false;
      /** Whether it was waited for, so that it is not one that had ended before. */
      let followed = false;
      for (;;) {
        if (!flight.hasFreeSlot()) {
          // It would wait for what another node may know: that is looked up first.
          const [found, isLed] = await Promise.all([lookUp(key, signal), searches.isLed(flightKey)]);
          signal.throwIfAborted();
          if (found) {
            return known(key, found, !followed);
          }
          const last = isLed ? await follow(flight, deeper) : undefined;
          followed ||= isLed;
          if (last) {
            return last;
          }
        }
        const slot = await flight.enter(letIn || followed);
        letIn = true;
        // In this order, and at once: who gets the claim sees what the one before has found.
        const claiming = searches.claim(flightKey);
        const found = await lookUp(key, signal);
        using claim = await claiming;
        if (found || claim === undefined || signal.aborted) {
          slot[Symbol.dispose]();
        }
        signal.throwIfAborted();
        if (found) {
          return known(key, found, !followed);
        }
        if (claim) {
          const last = await flight.searchIn(slot, deeper);
          if (last.findings().deterministic) {
            answers.set(key, last.findings());
          }
          return last;
        }
        followed = true;
        const last = await follow(flight, deeper);
        if (last) {
          return last;
        }
      }
    },
    serve(join) {
      searches.serve((flightKey, signal) => {
        const events = join(flightKey, signal);
        return events && statesFor(events);
      });
    },
  };
}

/** Of one node's search, for others. It ends without its last word where that says that this node is stopping. */
async function* statesFor(events: AsyncIterable<SharedEvent>) {
  for await (const event of events) {
    if (event.kind === "state") {
      const value = event.findings();
      if (value.endedBy === "stop") {
        return;
      }
      yield { value, isLast: value.endedBy !== undefined };
    }
  }
}

function stateOf(findings: Findings, cached: boolean): SharedState {
  return {
    kind: "state",
    findings: () => findings,
    depth: findings.depth,
    askedAt: performance.now(),
    queueMs: 0,
    engineMs: findings.counters.timeMs,
    cached,
  };
}

/** A search that another node takes on begins anew, but for its readers it goes on. */
function onlyDeeper(publish: (event: SharedEvent) => void): (event: SharedEvent) => void {
  let deepest = 0;
  return (event) => {
    if (event.kind === "waiting" || event.depth > deepest) {
      deepest = event.kind === "state" ? event.depth : deepest;
      publish(event);
    }
  };
}
