const minuteMs = 60_000;
export const dayMs = 86_400_000;

/**
 * The numbers of the rules for API keys. SQL and Lua get them from here, directly or in {@link IssueTerms}. Settings have the
 * other numbers: the keys of an address in a window, all self-service keys together, and the days until an unused key expires.
 */
export const keyRules = {
  /** The window of the key quota. In this time, a repeated idempotency key renews its key instead of creating a second key. */
  issueWindowMs: dayMs,
  /** A /48 network can create as many keys as this number of addresses, because many customers have a /48 network. */
  addressesOfNetwork: 10,
  /** How often an address can renew its keys. Each renewal writes to the database. */
  renewals: { max: 20, windowMs: minuteMs },
  /** An expired or revoked key stays in the store for this time, so that an error can explain why the key is rejected. */
  endedKeptMs: 30 * dayMs,
  /** If the store is full, ended keys stay only for this time, in which they still use the quota of their address. */
  endedKeptIfFullMs: dayMs,
  /** The operator can create this number of keys at once, in one transaction. */
  createdAtOnce: 1000,
  /** A key that was replaced stays valid for this time at most, if the operator wants an overlap. */
  overlapMaxMs: 30 * dayMs,
  /** At most this number of ended keys is deleted at once, which takes about a millisecond. */
  endedAtOnce: 20,
} as const;
