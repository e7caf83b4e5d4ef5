import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { KibitzError } from "../errors/errors.ts";
import type { KeyRecord, KeyStore } from "../storage/ports.ts";
import { hashOfApiKey, isApiKey, type KeyExpiry } from "./keys.ts";

/** Tells whose key an Authorization header carries, mostly from memory. */
interface Authenticator {
  /**
   * The key of a header.
   *
   * @param beforeLookUp called before the store is asked; may throw
   * @throws KibitzError `invalid_api_key`; what the store rejects with.
   */
  keyOf(authorization: string, beforeLookUp?: () => void): Promise<KeyRecord>;
  /** From now on the key is asked for again: it was revoked, or has another secret. */
  forget(id: string): void;
  /** Writes down which keys were used since the last time. What cannot be written is kept for the next time. */
  flush(): Promise<void>;
  readonly counters: AuthenticatorCounters;
}

/** A key as the store had it, and when it was asked, by `performance.now()`. */
interface Seen {
  readonly record: KeyRecord;
  readonly askedAt: number;
}

/** Look-ups since the start: answered from memory, and by the store. */
export interface AuthenticatorCounters {
  readonly hits: number;
  readonly misses: number;
}

interface AuthenticatorOptions {
  readonly keys: KeyStore;
  readonly pepper: string | undefined;
  /** When keys that nobody uses are valid no more; never if undefined. */
  readonly expiry?: KeyExpiry;
  /** How long a key counts as known, in milliseconds: so long one that another process has revoked still works. */
  readonly knownMs?: number;
  /** For a store that may be away. */
  readonly grace?: KeyGrace;
  /** The time at which keys are used, in milliseconds since 1970: that of this machine, unless given. */
  readonly now?: () => number;
}

/** How keys that were looked up before go on being valid while the store cannot be asked. */
export interface KeyGrace {
  /** By `performance.now()`, since when it cannot; undefined while it can. */
  awaySince(): number | undefined;
  /** So long after that, and where they were looked up at most so long before, in milliseconds. */
  readonly ms: number;
}

/** Revocation is promised to work within 5 s. */
export const defaultKnownMs = 3000;

/** Keys in use at a time, beyond which the store is asked more often. */
const knownMax = 10_000;

export function createAuthenticator({
  keys,
  pepper,
  expiry,
  knownMs = defaultKnownMs,
  grace,
  now = () => Date.now(),
}: AuthenticatorOptions): Authenticator {
  // By the key itself, so that a call with a known one costs no hash. It never leaves this memory.
  const known = new LRUCache<string, KeyRecord>({
    max: knownMax,
    ttl: knownMs,
    // By default the clock is set anew every millisecond, with a timer each time.
    ttlResolution: 100,
    // Who asks for a key that is being looked up waits for the same answer.
    fetchMethod: lookUp,
    disposeAfter: ({ id }, key) => leaveOut(id, key),
  });
  /** What was looked up last, for longer than it counts as known. */
  const seen = new LRUCache<string, Seen>({
    max: knownMax,
    disposeAfter: ({ record }, key) => leaveOut(record.id, key),
  });
  /** The keys in both by their ids: to look through all of them takes milliseconds, and anybody may renew a key. */
  const keysById = new Map<string, Set<string>>();
  let uses = new Map<string, number>();
  let hits = 0;
  let misses = 0;

  function putIn(id: string, key: string): void {
    keysById.set(id, (keysById.get(id) ?? new Set()).add(key));
  }

  function leaveOut(id: string, key: string): void {
    if (known.has(key) || seen.has(key)) {
      return;
    }
    const all = keysById.get(id);
    if (all?.delete(key) && all.size === 0) {
      keysById.delete(id);
    }
  }

  async function lookUp(key: string): Promise<KeyRecord> {
    const hash = hashOfApiKey(key, pepper);
    const record = await find(key, hash);
    const valid = record && record.revokedAt === undefined && isEqual(record.hash, hash);
    if (!valid) {
      throw invalid("This API key is unknown here, or has been revoked, replaced or expired.");
    }
    if (expiry?.hasExpired(record)) {
      throw expired(expiry.days);
    }
    putIn(record.id, key);
    return record;
  }

  async function find(key: string, hash: string): Promise<KeyRecord | undefined> {
    if (grace === undefined) {
      return keys.findByHash(hash);
    }
    const askedAt = performance.now();
    try {
      const record = await keys.findByHash(hash);
      if (record) {
        seen.set(key, { record, askedAt });
        putIn(record.id, key);
      } else {
        seen.delete(key);
      }
      return record;
    } catch (error) {
      const before = seen.get(key);
      const since = grace.awaySince() ?? askedAt;
      const isGraced = before && askedAt - since <= grace.ms && since - before.askedAt <= grace.ms;
      if (!isGraced) {
        throw error;
      }
      return before.record;
    }
  }

  function used(record: KeyRecord): KeyRecord {
    uses.set(record.id, now());
    return record;
  }

  return {
    get counters() {
      return { hits, misses };
    },
    async keyOf(authorization, beforeLookUp) {
      const key = keyFromHeader(authorization);
      const record = known.get(key);
      if (record) {
        hits++;
        return used(record);
      }
      if (!isApiKey(key)) {
        throw invalid("This is not a valid API key: it may be mistyped or truncated.");
      }
      beforeLookUp?.();
      misses++;
      return used(await known.forceFetch(key));
    },
    forget(id) {
      for (const key of [...(keysById.get(id) ?? [])]) {
        // What is being looked up anew is no record yet: to delete that would fail who waits for it.
        if (known.peek(key) !== undefined) {
          known.delete(key);
        }
        seen.delete(key);
      }
    },
    async flush() {
      const written = uses;
      uses = new Map();
      if (written.size === 0) {
        return;
      }
      try {
        await keys.touch(written);
      } catch (error) {
        uses = new Map([...written, ...uses]);
        throw error;
      }
    },
  };
}

/** @throws KibitzError where the header is anything but one bearer token: it is never taken for no header. */
function keyFromHeader(authorization: string): string {
  const key = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (key === undefined) {
    const scheme = otherScheme.exec(authorization)?.[0];
    throw wrongHeader(
      `has an Authorization header ${scheme ? `of the scheme ${scheme}` : "of another form"}`,
    );
  }
  return key;
}

/** A list, because the word of an unknown scheme may be part of a secret. */
const otherScheme = /^(?:basic|digest|negotiate|ntlm|token|apikey)(?= |$)/i;

/** @param fault what the request has instead of a key in the form of this service. */
export function wrongHeader(fault: string): KibitzError {
  return invalid(`The request ${fault}: send your API key as \`Authorization: Bearer kbz_…\`.`);
}

/** In a time that does not depend on where they differ. */
function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** The text says nothing of what was sent. */
function invalid(detail: string): KibitzError {
  return new KibitzError("invalid_api_key", detail);
}

function expired(days: number): KibitzError {
  const unused = days === 1 ? "a day" : `${days} days`;
  const detail = `This API key has expired: it was not used for ${unused}. Get a new one as you got this one.`;
  return new KibitzError("invalid_api_key", detail, { nextAction: "get_api_key" });
}
