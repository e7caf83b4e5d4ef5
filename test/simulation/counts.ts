/** How often each kind of thing occurred. */
export interface Counts {
  add(kind: string): void;
  readonly all: ReadonlyMap<string, number>;
}

export function createCounts(): Counts {
  const all = new Map<string, number>();
  return { all, add: (kind) => void all.set(kind, (all.get(kind) ?? 0) + 1) };
}

interface Counted {
  readonly counts: Counts;
  readonly calls: number;
  readonly virtualMs: number;
  readonly events: number;
}

/** The sums over several simulations. */
export function createTotals() {
  const kinds = new Map<string, number>();
  let [runs, calls, virtualMs, events] = [0, 0, 0, 0];
  return {
    kinds,
    add(report: Counted): void {
      runs++;
      calls += report.calls;
      virtualMs += report.virtualMs;
      events += report.events;
      for (const [kind, count] of report.counts.all) {
        kinds.set(kind, (kinds.get(kind) ?? 0) + count);
      }
    },
    text(seconds: number): string {
      const hours = (virtualMs / 3_600_000).toFixed(2);
      return `${runs} simulations, ${calls} calls, ${hours} simulated hours, ${events} events in ${seconds.toFixed(1)} s of processor time: ${Math.round(calls / seconds)} calls per second`;
    },
    table: () =>
      [...kinds]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([kind, count]) => `${String(count).padStart(7)} ${kind}`)
        .join("\n"),
  };
}
