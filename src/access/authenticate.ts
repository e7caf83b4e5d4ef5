import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { KibitzError } from "../errors/errors.ts";
import { type KeyRecord, type KeyStore, StoreUnavailable } from "../storage/ports.ts";
import { now, wall } from "../time/time.ts";
import { hashOfApiKey, isApiKey, type KeyExpiry } from "./keys.ts";

interface AuthenticatorOptions {
  readonly keys: KeyStore;
  readonly pepper: string | undefined;
  readonly expiry?: KeyExpiry;
  /** Milliseconds for which a valid key is cached. A key that another process revokes works until this time has passed. */
  readonly knownMs?: number;
  readonly now?: () => number;
}

/** Milliseconds. Must be less than 5 s: the documentation promises that a revoked key stops working within 5 s. */
export const defaultKnownMs = 3000;

/** Milliseconds for which a cached key stays valid while the store is unavailable. */
const graceMs = 60_000;

const keysMax = 10_000;

interface FoundKey {
  readonly record: KeyRecord;
  readonly lookedUpAt: number;
}

export function createAuthenticator({
  keys,
  pepper,
  expiry,
  knownMs = defaultKnownMs,
  now: wallClock = wall,
}: AuthenticatorOptions) {
  // Index by the key and not by its hash, so that a known key needs no hashing.
  const found = new LRUCache<string, FoundKey>({ max: keysMax });
  /** A second request with the same key waits for the running look-up. */
  const lookUps = new Map<string, Promise<KeyRecord>>();
  let uses = new Map<string, number>();
  let hits = 0;
  let misses = 0;

  function lookUp(key: string): Promise<KeyRecord> {
    const running = lookUps.get(key);
    if (running) {
      return running;
    }
    const started = find(key).finally(() => lookUps.delete(key));
    lookUps.set(key, started);
    return started;
  }

  async function find(key: string): Promise<KeyRecord> {
    const hash = hashOfApiKey(key, pepper);
    const lookedUpAt = now();
    let record: KeyRecord | undefined;
    try {
      record = await keys.findByHash(hash);
    } catch (error) {
      const before = found.get(key);
      if (error instanceof StoreUnavailable && before && lookedUpAt < before.lookedUpAt + graceMs) {
        return before.record;
      }
      throw error;
    }
    found.delete(key);
    if (record === undefined || record.revokedAt !== undefined || !isEqual(record.hash, hash)) {
      throw invalid("This API key is unknown here, or has been revoked, replaced or expired.");
    }
    if (expiry?.hasExpired(record)) {
      throw expired(expiry, record);
    }
    found.set(key, { record, lookedUpAt });
    return record;
  }

  return {
    get counters() {
      return { hits, misses };
    },
    /** Throws `invalid_api_key` or StoreUnavailable. Calls `beforeLookUp` before the store is read. */
    async keyOf(authorization: string, beforeLookUp = () => {}): Promise<KeyRecord> {
      const key = keyFromHeader(authorization);
      const known = found.get(key);
      const isFresh = known !== undefined && now() < known.lookedUpAt + knownMs;
      if (known === undefined) {
        if (!isApiKey(key)) {
          throw invalid("This is not a valid API key: it may be mistyped or truncated.");
        }
        beforeLookUp();
      }
      hits += isFresh ? 1 : 0;
      misses += isFresh ? 0 : 1;
      const record = isFresh ? known.record : await lookUp(key);
      uses.set(record.id, wallClock());
      return record;
    },
    /** Call this when a key is revoked or gets a new secret. */
    forget(id: string): void {
      const itsKeys = [...found.entries()].filter(([, { record }]) => record.id === id);
      for (const [key] of itsKeys) {
        found.delete(key);
      }
    },
    /** Stores the last use of each key. If the promise rejects, the next call stores the same values. */
    async flush(): Promise<void> {
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

/** Returns false for a single word, because the word may be an API key without the scheme `Bearer`. */
export function isOtherScheme(authorization: string): boolean {
  return !/^(?:bearer\b|\S+$)/i.test(authorization);
}

/** Only these schemes may appear in an error message. Any other first word of the header may be part of a secret. */
const otherScheme = /^(?:basic|digest|negotiate|ntlm|token|apikey)(?= |$)/i;

/** `violation` is the end of the sentence "The request …", such as `has an X-API-Key header`. */
export function wrongHeader(violation: string): KibitzError {
  return invalid(`The request ${violation}: send your API key as \`Authorization: Bearer kbz_…\`.`);
}

/** Takes the same time for all texts of equal length. Otherwise, an attacker could guess a hash step by step. */
function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** The message must not repeat the header, which may contain a secret. */
function invalid(detail: string): KibitzError {
  return new KibitzError("invalid_api_key", detail);
}

function expired({ days, expiresAt }: KeyExpiry, key: KeyRecord): KibitzError {
  const unused = days === 1 ? "a day" : `${days} days`;
  const reason =
    key.expiresAt !== undefined && key.expiresAt === expiresAt(key)
      ? `it was valid until ${new Date(key.expiresAt).toISOString()}`
      : `it was not used for ${unused}`;
  const detail = `This API key has expired: ${reason}. Get a new one as you got this one.`;
  return new KibitzError("invalid_api_key", detail, { nextAction: "get_api_key" });
}
