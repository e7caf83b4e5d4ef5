import { timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { KibitzError } from "../errors/errors.ts";
import { type KeyRecord, type KeyStore, StoreUnavailable } from "../storage/ports.ts";
import { hashOfApiKey, isApiKey, type KeyExpiry } from "./keys.ts";

interface AuthenticatorOptions {
  readonly keys: KeyStore;
  readonly pepper: string | undefined;
  /** When unused keys expire; never if undefined. */
  readonly expiry?: KeyExpiry;
  /** For how long a key is not looked up again, in milliseconds: a key that another process has revoked works for so long. */
  readonly knownMs?: number;
  /** The time at which keys are used, in milliseconds since 1970. Default: that of this machine. */
  readonly now?: () => number;
}

/** Revocation is promised to work within 5 s. */
export const defaultKnownMs = 3000;

/** For how long after its last look-up a key stays valid if the store is unavailable, in milliseconds. */
const graceMs = 60_000;

/** Keys in memory. */
const keysMax = 10_000;

/** A key as the store had it. */
interface FoundKey {
  readonly record: KeyRecord;
  /** By `performance.now()`. */
  readonly lookedUpAt: number;
}

/** Finds the keys of Authorization headers, usually in memory. */
export function createAuthenticator({
  keys,
  pepper,
  expiry,
  knownMs = defaultKnownMs,
  now = () => Date.now(),
}: AuthenticatorOptions) {
  // By the key itself, so that a request with a key in memory costs no hash. The key never leaves this memory.
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
    /** Requests since the start whose key was found in memory, and whose key was looked up in the store. */
    get counters() {
      return { hits, misses };
    },
    /**
     * @param beforeLookUp called before the store is asked for a key that is not in memory; may throw
     * @throws KibitzError `invalid_api_key`; StoreUnavailable
     */
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
    /** Removes a key from memory: it was revoked, or has another secret. */
    forget(id: string): void {
      const itsKeys = [...found.entries()].filter(([, { record }]) => record.id === id);
      for (const [key] of itsKeys) {
        found.delete(key);
      }
    },
    /** Stores when keys were used since the last time. If that fails, it is stored the next time. */
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

/** @throws KibitzError if the header is anything but one bearer token: a wrong header never counts as no header */
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

/** True for a credential of another scheme than Bearer, such as the Basic login of a proxy. One word alone may be a key without its scheme. */
export function isOtherScheme(authorization: string): boolean {
  return !/^(?:bearer\b|\S+$)/i.test(authorization);
}

/** A list, because the word of an unknown scheme may be part of a secret. */
const otherScheme = /^(?:basic|digest|negotiate|ntlm|token|apikey)(?= |$)/i;

/** @param fault what the request has instead of a Bearer key */
export function wrongHeader(fault: string): KibitzError {
  return invalid(`The request ${fault}: send your API key as \`Authorization: Bearer kbz_…\`.`);
}

/** Compares in a time that does not depend on where the texts differ. */
function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** @param detail must not repeat the header, which may be a secret */
function invalid(detail: string): KibitzError {
  return new KibitzError("invalid_api_key", detail);
}

function expired(days: number): KibitzError {
  const unused = days === 1 ? "a day" : `${days} days`;
  const detail = `This API key has expired: it was not used for ${unused}. Get a new one as you got this one.`;
  return new KibitzError("invalid_api_key", detail, { nextAction: "get_api_key" });
}
