import type { KeyRecord } from "../storage/ports.ts";
import { openPlan, type Plan } from "./plans.ts";

export interface Account {
  /** Identifies the caller in limits and in the queue: an address, or the result of {@link subjectOfKey}. */
  readonly subject: string;
  readonly address: string;
  readonly plan: Plan;
  readonly key: KeyRecord | undefined;
}

/** Returns the same text for all keys of an account, and for all keys that one address created: more keys do not raise the limits. */
export function subjectOfKey({ id, account = id, issuedTo }: KeyRecord): string {
  return issuedTo === undefined ? account : `keys of ${issuedTo}`;
}

export const localAccount: Account = { subject: "local", address: "local", plan: openPlan, key: undefined };
