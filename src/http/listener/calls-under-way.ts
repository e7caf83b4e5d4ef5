/** What is full: all that one caller may have, or the whole service. */
export type Full = "caller" | "service";

/** Counts calls until they have ended. */
export interface CallsUnderWay {
  /**
   * Counts a call, unless there is no room for it.
   *
   * @param caller undefined for one that is counted only in all
   * @returns how its end is counted, or what is full
   */
  begin(caller: string | undefined): EndCall | Full;
}

export type EndCall = () => void;

export interface CallsUnderWayOptions {
  readonly max: number;
  readonly maxPerCaller: () => number;
  /** Is told of every call for which a caller has no room. */
  readonly onFull: () => void;
}

export function createCallsUnderWay({ max, maxPerCaller, onFull }: CallsUnderWayOptions): CallsUnderWay {
  const byCaller = new Map<string, number>();
  let all = 0;

  function count(caller: string | undefined, change: 1 | -1): void {
    all += change;
    if (caller !== undefined) {
      const own = (byCaller.get(caller) ?? 0) + change;
      if (own === 0) {
        byCaller.delete(caller);
      } else {
        byCaller.set(caller, own);
      }
    }
  }

  return {
    begin(caller) {
      if (all >= max) {
        return "service";
      }
      if (caller !== undefined && (byCaller.get(caller) ?? 0) >= maxPerCaller()) {
        onFull();
        return "caller";
      }
      count(caller, 1);
      return () => count(caller, -1);
    },
  };
}
