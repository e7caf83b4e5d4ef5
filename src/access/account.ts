import type { KeyRecord } from "../storage/ports.ts";
import { openPlan, type Plan } from "./plans.ts";

export type { KeyRecord };

export interface Account {
  /** Limits and the queue count by this name: the address, an operator's key, or all self-service keys of an address. */
  readonly subject: string;
  /** IPv4 address or IPv6 network of the caller. */
  readonly address: string;
  readonly plan: Plan;
  readonly key: KeyRecord | undefined;
}

/** All self-service keys of an address have the same subject, so more keys do not allow more calls. */
export function subjectOfKey({ id, issuedTo }: KeyRecord): string {
  // The subject is not the address itself, because callers without a key are counted separately.
  return issuedTo === undefined ? id : `keys of ${issuedTo}`;
}

/** For calls that come from this process. */
export const localAccount: Account = { subject: "local", address: "local", plan: openPlan, key: undefined };
