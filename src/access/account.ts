import type { KeyRecord } from "../storage/ports.ts";
import { openPlan, type Plan } from "./plans.ts";

export type { KeyRecord };

/** Who asks, as the limits see them. */
export interface Account {
  /** What is counted against: the id of the key, or the address. */
  readonly subject: string;
  /** IPv4 address or IPv6 network of the caller. */
  readonly address: string;
  readonly plan: Plan;
  /** The key of this call; undefined without one. */
  readonly key: KeyRecord | undefined;
}

/** Whoever asks from this process. */
export const localAccount: Account = { subject: "local", address: "local", plan: openPlan, key: undefined };
