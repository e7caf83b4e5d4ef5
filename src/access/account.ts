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

/** The same text for the calls with a key as long as that is known: of a new one, V8 makes a hash first. */
const subjects = new WeakMap<KeyRecord, string>();

/** What the calls with a key are counted against. More keys at one address are not more calls. */
export function subjectOfKey(key: KeyRecord): string {
  const known = subjects.get(key);
  if (known !== undefined) {
    return known;
  }
  // Not the address itself: who calls from there without a key is somebody else.
  const subject = key.issuedTo === undefined ? key.id : `keys of ${key.issuedTo}`;
  subjects.set(key, subject);
  return subject;
}

/** Whoever asks from this process. */
export const localAccount: Account = { subject: "local", address: "local", plan: openPlan, key: undefined };
