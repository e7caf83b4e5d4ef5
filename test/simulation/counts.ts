/** How often each kind of thing occurred. */
export interface Counts {
  add(kind: string): void;
  readonly all: ReadonlyMap<string, number>;
}

export function createCounts(): Counts {
  const all = new Map<string, number>();
  return { all, add: (kind) => void all.set(kind, (all.get(kind) ?? 0) + 1) };
}
