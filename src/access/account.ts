import type { KeyRecord } from "../storage/ports.ts";
import { openPlan, type Plan } from "./plans.ts";

export type { KeyRecord };

/** A caller with everything that limits and the queue need to know about it. */
export interface Account {
  /**
   * The name by which limits count the caller, and by which the queue shares its slots. It is the address for calls without a
   * key, the id of an operator's key, and one common name for all self-service keys of an address.
   */
  readonly subject: string;
  /** IPv4 address or IPv6 network of the caller. */
  readonly address: string;
  readonly plan: Plan;
  /** The key that the call was made with; undefined without a key. */
  readonly key: KeyRecord | undefined;
}

/**
 * Returns the subject of calls with a key. All self-service keys of one address have the same subject, so more keys do not allow
 * more calls.
 */
export function subjectOfKey({ id, issuedTo }: KeyRecord): string {
  // The subject is not the address itself, because callers without a key are counted separately.
  return issuedTo === undefined ? id : `keys of ${issuedTo}`;
}

/** The account of calls that come from this process. */
export const localAccount: Account = { subject: "local", address: "local", plan: openPlan, key: undefined };
