import type { QueuePosition, ReadQueuePosition, Scheduler, Slot, Work } from "./scheduler.ts";

/**
 * The places of one search in the queue. The search waits in the flow of each caller whose flow shortens the wait, and the first
 * slot wins. So a caller that joins a search waits no longer than with a search of its own.
 */
interface QueuePlaces {
  /** Call this for each caller of the search. If the caller leaves, the search keeps its place. */
  join(flow: string): void;
  /**
   * Rejects with `overloaded` if all flows refuse the search, or with the abort reason of `signal`. A search that has had a slot
   * keeps its arrival time in the flow of this slot, and is never refused.
   */
  enter(signal: AbortSignal, onWaiting: (readPosition: ReadQueuePosition) => void): Promise<Slot>;
}

/** A caller adds a place only if the place shortens the wait by more than this: estimates of equal places can differ a little. */
const gainMinMs = 10;

interface QueuePlace {
  readonly leaving: AbortController;
  /** Returns undefined if the search does not wait in this place. */
  readPosition: ReadQueuePosition;
}

export function createQueuePlaces(scheduler: Scheduler, work: Omit<Work, "flow">): QueuePlaces {
  const flows = new Set<string>();
  /** The place that had the last slot. */
  let last: { readonly flow: string; readonly place: QueuePlace; readonly again: Slot["again"] } | undefined;
  /** Adds a place. Does nothing while the search does not wait. */
  let add = (_flow: string) => {};

  async function enter(signal: AbortSignal, onWaiting: (readPosition: ReadQueuePosition) => void) {
    const places = new Map<string, QueuePlace>();
    const { promise, resolve, reject } = Promise.withResolvers<Slot>();
    let winner: QueuePlace | undefined;

    const bestPosition: ReadQueuePosition = () =>
      [...places.values()].map(({ readPosition }) => readPosition()).reduce(sooner, undefined);

    function enterFlow(flow: string): void {
      const best = bestPosition();
      const known = last?.flow === flow ? last : undefined;
      const place: QueuePlace = {
        leaving: new AbortController(),
        readPosition: known?.place.readPosition ?? (() => undefined),
      };
      const isExtra = places.size > 0;
      places.set(flow, place);
      const { leaving } = place;
      const onPosition = (readPosition: ReadQueuePosition) => {
        place.readPosition = readPosition;
        onWaiting(bestPosition);
      };
      const entering =
        known?.again(leaving.signal) ??
        scheduler.enter({ ...work, flow, isExtra }, leaving.signal, onPosition);
      entering.then(
        (slot) => {
          if (winner) {
            slot[Symbol.dispose]();
          } else {
            winner = place;
            last = { flow, place, again: slot.again };
            resolve({
              ...slot,
              [Symbol.dispose]() {
                stopListening();
                slot[Symbol.dispose]();
              },
            });
          }
        },
        (error) => {
          if (places.get(flow) === place) {
            places.delete(flow);
            if (places.size === 0) {
              reject(error);
            }
          }
        },
      );
      const own = place.readPosition();
      if (best && own && !isSooner(own, best)) {
        // Leave this place, because each place counts as a search in the expected wait of later requests.
        places.delete(flow);
        leaving.abort();
      }
    }

    const leaveAll = () => {
      for (const { leaving } of places.values()) {
        leaving.abort(signal.reason);
      }
    };
    /** Call this when the slot ends, because the scheduler also uses the signal of a place while the search runs. */
    const stopListening = () => signal.removeEventListener("abort", leaveAll);

    signal.throwIfAborted();
    signal.addEventListener("abort", leaveAll, { once: true });
    add = enterFlow;
    flows.forEach(add);
    try {
      return await promise;
    } catch (error) {
      stopListening();
      throw error;
    } finally {
      add = () => {};
      for (const place of places.values()) {
        if (place !== winner) {
          place.leaving.abort();
        }
      }
    }
  }

  return {
    enter,
    join(flow) {
      if (!flows.has(flow)) {
        flows.add(flow);
        add(flow);
      }
    },
  };
}

function sooner(one: QueuePosition | undefined, other: QueuePosition | undefined): QueuePosition | undefined {
  return one && other && !isSooner(other, one) ? one : (other ?? one);
}

function isSooner(one: QueuePosition, other: QueuePosition): boolean {
  return one.place < other.place || one.expectedWaitMs < other.expectedWaitMs - gainMinMs;
}
