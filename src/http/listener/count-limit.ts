/** Counts what is open, by who holds it and in all, and admits no more than its limits. */
export interface CountLimit {
  /**
   * Counts one more.
   *
   * @param holder undefined for one that counts only in all
   * @returns ends the count; or the limit that is reached
   */
  begin(holder: string | undefined): EndCount | "holder" | "all";
}

export type EndCount = () => void;

/**
 * @param max in all
 * @param maxPerHolder called at each count, because plans change it
 */
export function createCountLimit(max: number, maxPerHolder: () => number): CountLimit {
  const byHolder = new Map<string, number>();
  let all = 0;

  function change(holder: string | undefined, by: 1 | -1): void {
    all += by;
    if (holder === undefined) {
      return;
    }
    const count = (byHolder.get(holder) ?? 0) + by;
    if (count === 0) {
      byHolder.delete(holder);
    } else {
      byHolder.set(holder, count);
    }
  }

  return {
    begin(holder) {
      if (all >= max) {
        return "all";
      }
      if (holder !== undefined && (byHolder.get(holder) ?? 0) >= maxPerHolder()) {
        return "holder";
      }
      change(holder, 1);
      return () => change(holder, -1);
    },
  };
}
