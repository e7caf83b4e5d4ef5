import type { KeyRecord } from "../storage/ports.ts";
import { openPlan, type Plan } from "./plans.ts";

export type { KeyRecord };

/** Who asks, as the limits see them. */
export interface Account {
  /**
   * What is counted against, and has one share of the queue: the address without a key, the id of a key of the operator,
   * and all keys together that an address got by itself.
   */
  readonly subject: string;
  /** IPv4 address or IPv6 network of the caller. */
  readonly address: string;
  readonly plan: Plan;
  /** The key of this call; undefined without one. */
  readonly key: KeyRecord | undefined;
}

/** What the calls with a key are counted against. More keys at one address are not more calls. */
export function subjectOfKey({ id, issuedTo }: KeyRecord): string {
  // Not the address itself: a caller without a key there is counted apart.
  return issuedTo === undefined ? id : `keys of ${issuedTo}`;
}

/** The account of calls that come from this process. */
export const localAccount: Account = { subject: "local", address: "local", plan: openPlan, key: undefined };
