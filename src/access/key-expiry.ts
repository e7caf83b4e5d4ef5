import type { EndedKeys, KeyRecord } from "../storage/ports.ts";

const dayMs = 86_400_000;

/** How long keys that have ended are still known, so that who uses one is told why it is refused. */
const toldMs = 30 * dayMs;

/** When keys that callers got by themselves are valid no more because nobody uses them. Keys of the operator always are. */
export interface KeyExpiry {
  /** Days without use; 0 if keys do not expire. */
  readonly days: number;
  /** When a key expires if it is not used again, in milliseconds since 1970; undefined if it does not. */
  expiresAt(key: KeyRecord): number | undefined;
  hasExpired(key: KeyRecord): boolean;
  /** Keys that need not be kept any more. */
  ended(): EndedKeys;
  /**
   * Keys that need not be kept where there is no room for others. One that was revoked in the last day still counts as
   * one that its address was issued.
   */
  endedAtLast(): EndedKeys;
}

export function createKeyExpiry(days: number): KeyExpiry {
  const unusedMaxMs = days * dayMs;
  const now = createCautiousClock();
  const expiresAt = ({ issuedTo, createdAt, lastUsedAt = 0 }: KeyRecord) =>
    days === 0 || issuedTo === undefined ? undefined : Math.max(createdAt, lastUsedAt) + unusedMaxMs;
  const endedFor = (ms: number): EndedKeys => ({
    revokedBefore: now() - ms,
    unusedSince: days === 0 ? 0 : now() - unusedMaxMs - ms,
  });
  return {
    days,
    expiresAt,
    hasExpired: (key) => (expiresAt(key) ?? Number.POSITIVE_INFINITY) <= now(),
    ended: () => endedFor(toldMs),
    endedAtLast: () => endedFor(dayMs),
  };
}

/**
 * Milliseconds since 1970, rather too few than too many: a wall clock that jumps ahead while this process runs ends no
 * key, and one that was ahead when it started does so until it is corrected only.
 */
function createCautiousClock(): () => number {
  const startedAt = Date.now() - performance.now();
  return () => Math.floor(Math.min(Date.now(), startedAt + performance.now()));
}
