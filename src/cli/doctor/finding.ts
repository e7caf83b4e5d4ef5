/** What was looked at, what was found, and what to do about it. */
export interface Finding {
  /** Which part of the machine: `node`, `engines`, `sandbox`. */
  readonly part: string;
  /**
   * `good`: as it should be. `note`: it works, and somebody may want to know. `bad`: the service would not start, not answer,
   * or not be safe.
   */
  readonly state: "good" | "note" | "bad";
  /** In a sentence without an end: `Node.js 26.1.0`. */
  readonly found: string;
  /** The way out; of what is good, none. */
  readonly advice?: string;
}

/** A look at one part. Never rejects for what is wrong with the machine: that is a finding. */
export type Look = (signal: AbortSignal) => AsyncIterable<Finding> | Iterable<Finding>;

export const good = (part: string, found: string): Finding => ({ part, state: "good", found });
export const note = (part: string, found: string, advice: string): Finding => ({
  part,
  state: "note",
  found,
  advice,
});
export const bad = (part: string, found: string, advice: string): Finding => ({
  part,
  state: "bad",
  found,
  advice,
});

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
