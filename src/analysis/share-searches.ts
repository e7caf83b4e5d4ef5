import type { AnalysisCache, SharedSearches } from "../storage/ports.ts";
import { inSpan } from "../tracing/spans.ts";
import type { Findings } from "./analysis.ts";
import type { SharedEvent, SharedFlight, SharedState, Sharing } from "./flight.ts";

export interface SharingOptions {
  readonly searches: SharedSearches<Findings>;
  /** Answers that all nodes share. */
  readonly answers: AnalysisCache<Findings>;
  /** The memory of this node. */
  readonly cache: AnalysisCache<Findings>;
}

/**
 * Shares searches with other nodes. The node that leads holds a slot, so a node that follows, which holds none, never waits for a
 * queued search. If anything fails between nodes, each searches for itself.
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

  async function follow(flight: SharedFlight, report: (state: SharedState) => void) {
    const { flightKey, signal, times } = flight;
    // A caller that leaves without an answer is charged from here on, as for a search of this node.
    times.begunAt = performance.now();
    try {
      const onState = (findings: Findings) => report(stateOf(findings, false));
      const last = await searches.follow(flightKey, onState, signal);
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
      let isAdmitted = false;
      /** True if this node waited for the search of another, so the answer was not there before. */
      let followed = false;
      for (;;) {
        if (!flight.hasFreeSlot()) {
          // Another node may have the answer already, or be searching: look that up before the search waits.
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
        const slot = await flight.enter(isAdmitted || followed);
        isAdmitted = true;
        // Claim before reading the answers, so that a new leader sees the result of the one before.
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

/** The states of a search of this node, for other nodes. They end without the last one if this node is stopping. */
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

/** Leaves out states that a search repeats when another node takes it over, so that it goes on for its readers. */
function onlyDeeper(publish: (event: SharedEvent) => void): (event: SharedEvent) => void {
  let deepest = 0;
  return (event) => {
    if (event.kind === "waiting" || event.depth > deepest) {
      deepest = event.kind === "state" ? event.depth : deepest;
      publish(event);
    }
  };
}
