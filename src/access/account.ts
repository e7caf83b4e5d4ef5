import type { KeyRecord } from "../storage/ports.ts";
import { openPlan, type Plan } from "./plans.ts";

export type { KeyRecord };

export interface Account {
  /**
   * The caller's name in limits and in the queue. The name is one of these:
   * - the caller's address, for requests without a key
   * - the id of the key, if the operator created the key
   * - a name with the address that created the key, for all other keys
   */
  readonly subject: string;
  readonly address: string;
  readonly plan: Plan;
  readonly key: KeyRecord | undefined;
}

/** Returns the same subject for all keys that one address created. An address cannot raise its limits by creating more keys. */
export function subjectOfKey({ id, issuedTo }: KeyRecord): string {
  // The subject differs from the address, because requests without a key are counted separately.
  return issuedTo === undefined ? id : `keys of ${issuedTo}`;
}

export const localAccount: Account = { subject: "local", address: "local", plan: openPlan, key: undefined };
