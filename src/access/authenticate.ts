import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { KibitzError } from "../errors/errors.ts";
import { type KeyRecord, type KeyStore, StoreUnavailable } from "../storage/ports.ts";
import { hashOfApiKey, isApiKey, type KeyExpiry } from "./keys.ts";

interface AuthenticatorOptions {
  readonly keys: KeyStore;
  readonly pepper: string | undefined;
  /** If there is no rule, keys never expire. */
  readonly expiry?: KeyExpiry;
  /** A key is not looked up again for this time, and still works for it if another process revokes it. */
  readonly knownMs?: number;
  /** Milliseconds since 1970. Default: the clock of this machine. */
  readonly now?: () => number;
}

/** A revocation is promised to take effect within 5 s, so a known key is looked up again sooner. */
export const defaultKnownMs = 3000;

/** A key stays valid for this time after its last look-up if the store is unavailable. */
const graceMs = 60_000;

const keysMax = 10_000;

interface FoundKey {
  readonly record: KeyRecord;
  /** The time of the look-up, as `performance.now()`. */
  readonly lookedUpAt: number;
}

/** Finds the key of an Authorization header, usually in memory. */
export function createAuthenticator({
  keys,
  pepper,
  expiry,
  knownMs = defaultKnownMs,
  now = () => Date.now(),
}: AuthenticatorOptions) {
  // The map is indexed by the key itself, so that a request with a known key needs no hash. The key never leaves this memory.
  const found = new LRUCache<string, FoundKey>({ max: keysMax });
  /** Requests with the same key share one look-up. */
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
    const lookedUpAt = performance.now();
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
      throw expired(expiry.days);
    }
    found.set(key, { record, lookedUpAt });
    return record;
  }

  return {
    /** The numbers of requests since the start whose key was found in memory (`hits`) or looked up in the store (`misses`). */
    get counters() {
      return { hits, misses };
    },
    /** Calls `beforeLookUp`, which may throw, if the key is not in memory. Throws `invalid_api_key` or StoreUnavailable. */
    async keyOf(authorization: string, beforeLookUp = () => {}): Promise<KeyRecord> {
      const key = keyFromHeader(authorization);
      const known = found.get(key);
      const isFresh = known !== undefined && performance.now() < known.lookedUpAt + knownMs;
      if (known === undefined) {
        if (!isApiKey(key)) {
          throw invalid("This is not a valid API key: it may be mistyped or truncated.");
        }
        beforeLookUp();
      }
      hits += isFresh ? 1 : 0;
      misses += isFresh ? 0 : 1;
      const record = isFresh ? known.record : await lookUp(key);
      uses.set(record.id, now());
      return record;
    },
    /** Call this if the key was revoked or has another secret. */
    forget(id: string): void {
      const itsKeys = [...found.entries()].filter(([, { record }]) => record.id === id);
      for (const [key] of itsKeys) {
        found.delete(key);
      }
    },
    /** Stores the times at which keys were used since the last call. If storing fails, the next call stores them. */
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

/** Throws if the header is not exactly one bearer token: an invalid header never counts as no header. */
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

/** A single word does not count as another scheme, because it may be a key without its scheme. */
export function isOtherScheme(authorization: string): boolean {
  return !/^(?:bearer\b|\S+$)/i.test(authorization);
}

/** An error names only these schemes, because the first word of an unknown scheme may be part of a secret. */
const otherScheme = /^(?:basic|digest|negotiate|ntlm|token|apikey)(?= |$)/i;

/** The violation is the rest of the sentence "The request …", such as `has an X-API-Key header`. */
export function wrongHeader(violation: string): KibitzError {
  return invalid(`The request ${violation}: send your API key as \`Authorization: Bearer kbz_…\`.`);
}

/** Takes a time that does not depend on where the texts differ. */
function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** @param detail the error message; it must not repeat the header, which may be a secret */
function invalid(detail: string): KibitzError {
  return new KibitzError("invalid_api_key", detail);
}

function expired(days: number): KibitzError {
  const unused = days === 1 ? "a day" : `${days} days`;
  const detail = `This API key has expired: it was not used for ${unused}. Get a new one as you got this one.`;
  return new KibitzError("invalid_api_key", detail, { nextAction: "get_api_key" });
}
