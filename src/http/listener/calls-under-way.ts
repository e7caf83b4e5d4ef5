import type { NodeResponse } from "../message.ts";

/** What is full: all that one caller may have, or the whole service. */
export type Full = "caller" | "service";

/** Counts calls until their answers are closed. */
export interface CallsUnderWay {
  /**
   * Counts a call, unless there is no room for it.
   *
   * @param caller undefined for one that is counted only in all
   */
  begin(res: NodeResponse, caller: string | undefined): Full | undefined;
}

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
    begin(res, caller) {
      if (all >= max) {
        return "service";
      }
      if (caller !== undefined && (byCaller.get(caller) ?? 0) >= maxPerCaller()) {
        onFull();
        return "caller";
      }
      count(caller, 1);
      res.once("close", () => count(caller, -1));
      return undefined;
    },
  };
}
