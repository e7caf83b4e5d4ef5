import type { KeyRecord } from "../storage/ports.ts";
import { openPlan, type Plan } from "./plans.ts";

export type { KeyRecord };

export interface Account {
  /**
   * Limits and the queue identify the caller by this name: an address, the id of a key, or a common name for all keys that one
   * address created.
   */
  readonly subject: string;
  readonly address: string;
  readonly plan: Plan;
  readonly key: KeyRecord | undefined;
}

/** Returns the same subject for all keys that callers at one address created. More keys must not raise the limits. */
export function subjectOfKey({ id, issuedTo }: KeyRecord): string {
  // The subject differs from the address, because requests without a key are counted separately.
  return issuedTo === undefined ? id : `keys of ${issuedTo}`;
}

export const localAccount: Account = { subject: "local", address: "local", plan: openPlan, key: undefined };
