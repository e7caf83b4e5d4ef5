import type { Service } from "../../src/wiring/service.ts";

/** A shorter search may run beside the slots, or in a slot that another search lends. */
const shortMs = 500;

/** Expected times change while searches wait, so that the shares cannot be exact. */
const factor = 2;

interface FairShareOptions {
  readonly name: string;
  readonly service: Service;
  violation(text: string): void;
}

/** A search that has not ended, and what has started since it was requested. Times are expected milliseconds. */
interface WaitingSearch {
  readonly flow: string;
  expectedMs(): number;
  /** Maps each flow to the time of its searches that have started. */
  readonly startedMs: Map<string, number>;
  hasOwnPlace: boolean;
}

/**
 * Checks that flows share the slot of a node equally, also if their searches are joined: while a search waits, each other flow gets
 * at most the time that the flow of this search gets, with the time of this search, and one search more. With more slots, the
 * simulation would have to know which search has left the queue.
 */
export function watchFairShare({ name, service, violation }: FairShareOptions): void {
  const { analyzer, scheduler } = service;
  const { analyze } = analyzer;
  const { enter } = scheduler;
  const waiting = new Set<WaitingSearch>();
  /** The longest search of each flow. */
  const longest = new Map<string, number>();
  let requesting: WaitingSearch | undefined;

  function onStart(flow: string, ms: number): void {
    for (const search of waiting) {
      const sumMs = (search.startedMs.get(flow) ?? 0) + ms;
      search.startedMs.set(flow, sumMs);
      const ownMs = (search.startedMs.get(search.flow) ?? 0) + search.expectedMs();
      const shareMs = factor * (ownMs + (longest.get(flow) ?? 0));
      if (flow !== search.flow && sumMs > shareMs && search.hasOwnPlace) {
        waiting.delete(search);
        violation(
          `${name}: while a search of ${search.flow} waits, ${flow} starts searches of ${Math.round(sumMs)} ms, but its share is ${Math.round(shareMs)} ms`,
        );
      }
    }
  }

  scheduler.enter = async (work, signal, onWaiting) => {
    const { flow } = work;
    const asker = requesting;
    const see = () => {
      const ms = work.expectMs();
      longest.set(flow, Math.max(longest.get(flow) ?? 0, ms));
      return ms;
    };
    const watched = (slot: Awaited<ReturnType<typeof enter>>) => {
      const ms = see();
      if (ms > shortMs) {
        onStart(flow, ms);
      }
      const { again } = slot;
      slot.again = async (signal) => watched(await again(signal));
      return slot;
    };
    see();
    try {
      return watched(await enter(work, signal, onWaiting));
    } catch (error) {
      if (asker && !signal.aborted) {
        // The queue is too long for this search. So it has only the place of the search that it has joined.
        asker.hasOwnPlace = false;
      }
      throw error;
    }
  };

  analyzer.analyze = async (request, flow, signal, terms) => {
    const { expectedMs, longestMs } = terms ?? analyzer.timeOf(request, Number.POSITIVE_INFINITY);
    const search: WaitingSearch = {
      flow,
      expectedMs: () => Math.max(expectedMs, analyzer.timeOf(request, longestMs).expectedMs),
      startedMs: new Map(),
      hasOwnPlace: true,
    };
    if (expectedMs > shortMs) {
      waiting.add(search);
    }
    try {
      requesting = search;
      const analysis = analyze(request, flow, signal, terms);
      requesting = undefined;
      return await analysis;
    } finally {
      requesting = undefined;
      waiting.delete(search);
    }
  };
}
