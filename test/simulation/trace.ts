/** What happened, in the order of time and in words for a reader. */
export interface Trace {
  add(text: string): void;
  readonly lines: readonly string[];
}

export function createTrace(now: () => number): Trace {
  const lines: string[] = [];
  return {
    lines,
    add: (text) => void lines.push(`${(now() / 1000).toFixed(3).padStart(8)} s  ${text}`),
  };
}
