import type { Config } from "../../wiring/settings.ts";

/** The state of one part of the machine, and what to do about it. */
export interface Finding {
  /** `engines`, `sandbox` */
  readonly part: string;
  /** `note`: the service works, with a drawback. `bad`: the service would not start, not answer, or not be safe. */
  readonly state: "good" | "note" | "bad";
  /** A sentence without a full stop. */
  readonly found: string;
  /** The way out; undefined if the state is good. */
  readonly advice?: string;
}

/** Examines one part. It reports what is wrong with the machine as a finding, and never rejects for it. */
export type Check = (config: Config, signal: AbortSignal) => AsyncIterable<Finding> | Iterable<Finding>;

export const good = (part: string, found: string): Finding => ({ part, state: "good", found });

const trouble =
  (state: "note" | "bad") =>
  (part: string, found: string, advice: string): Finding => ({ part, state, found, advice });
export const note = trouble("note");
export const bad = trouble("bad");

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
