import type { Work } from "../../src/analysis/scheduler.ts";
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
  /** All places of a search in the queue have this function. Undefined if the search has asked for no place. */
  expectMs: (() => number) | undefined;
  expectedMs(): number;
  /** The time of this search, and of other searches of its flow. A search that is set back starts several times. */
  ownMs: number;
  /** Maps each other flow to the time of its searches. */
  readonly othersMs: Map<string, number>;
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
  /** The longest search of each flow, by its expected time when it came, when it started, or while it waited for a slot. */
  const longest = new Map<string, number>();
  const queued = new Set<Work>();
  let requesting: WaitingSearch | undefined;

  function see({ flow, expectMs }: Work): number {
    const ms = expectMs();
    longest.set(flow, Math.max(longest.get(flow) ?? 0, ms));
    return ms;
  }

  function onStart({ flow, expectMs }: Work, ms: number): void {
    // A search that waits may have become longer, because the server has learned that such searches take longer.
    queued.forEach(see);
    for (const search of waiting) {
      if (flow === search.flow || expectMs === search.expectMs) {
        search.ownMs += ms;
      } else if (ms > shortMs && search.hasOwnPlace) {
        check(search, flow, ms);
      }
    }
  }

  function check(search: WaitingSearch, flow: string, ms: number): void {
    const { ownMs, othersMs } = search;
    const sumMs = (othersMs.get(flow) ?? 0) + ms;
    othersMs.set(flow, sumMs);
    // Another search of the own flow may be first.
    const nextMs = Math.max(search.expectedMs(), longest.get(search.flow) ?? 0);
    const shareMs = factor * (ownMs + nextMs + (longest.get(flow) ?? 0));
    if (sumMs > shareMs) {
      waiting.delete(search);
      violation(
        `${name}: while a search of ${search.flow} waits, ${flow} starts searches of ${Math.round(sumMs)} ms, but its share is ${Math.round(shareMs)} ms`,
      );
    }
  }

  scheduler.enter = async (work, signal, onWaiting) => {
    const { flow } = work;
    // If a search was joined while it ran, it asks for the places of its callers when it is set back.
    const asker =
      requesting ?? waiting.values().find((one) => one.flow === flow && one.expectMs === undefined);
    if (asker) {
      asker.expectMs = work.expectMs;
    }
    const watched = async (entering: ReturnType<typeof enter>) => {
      queued.add(work);
      const slot = await entering.finally(() => queued.delete(work));
      onStart(work, see(work));
      const { again } = slot;
      slot.again = (signal) => watched(again(signal));
      return slot;
    };
    see(work);
    try {
      return await watched(enter(work, signal, onWaiting));
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
      expectMs: undefined,
      expectedMs: () => Math.max(expectedMs, analyzer.timeOf(request, longestMs).expectedMs),
      ownMs: 0,
      othersMs: new Map(),
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
      waiting.delete(search);
    }
  };
}
