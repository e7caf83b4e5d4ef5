import type { Config } from "../../wiring/settings.ts";

export interface Finding {
  readonly part: string;
  /** `note` is a drawback. `bad` means that the service would not start, would not answer, or would be unsafe. */
  readonly state: "good" | "note" | "bad";
  readonly found: string;
  readonly advice?: string;
}

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
