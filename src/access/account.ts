import type { KeyRecord } from "../storage/ports.ts";
import { openPlan, type Plan } from "./plans.ts";

export type { KeyRecord };

/** A caller, as the limits see it. */
export interface Account {
  /**
   * The name under which limits count and the queue is shared: without a key the address, for an operator's key its id, and
   * for all self-service keys of an address the same name.
   */
  readonly subject: string;
  /** IPv4 address or IPv6 network of the caller. */
  readonly address: string;
  readonly plan: Plan;
  /** The key of this call; undefined without one. */
  readonly key: KeyRecord | undefined;
}

/** The subject of calls with a key. More self-service keys of one address do not allow more calls. */
export function subjectOfKey({ id, issuedTo }: KeyRecord): string {
  // Not the address itself: callers without a key are counted apart.
  return issuedTo === undefined ? id : `keys of ${issuedTo}`;
}

/** The account of calls that come from this process. */
export const localAccount: Account = { subject: "local", address: "local", plan: openPlan, key: undefined };
