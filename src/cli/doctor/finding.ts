import type { Config } from "../../wiring/settings.ts";

export interface Finding {
  /** The part of the machine, such as `engines`. */
  readonly part: string;
  /** `note`: the service works, with a drawback. `bad`: it would not start, not answer, or not be safe. */
  readonly state: "good" | "note" | "bad";
  /** A sentence without a full stop. */
  readonly found: string;
  readonly advice?: string;
}

/** A check reports problems of the machine as findings, and never rejects because of them. */
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
