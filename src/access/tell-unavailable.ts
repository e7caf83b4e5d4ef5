import { KibitzError } from "../errors/errors.ts";
import { type KeyStore, StoreUnavailable } from "../storage/ports.ts";

/** When a caller may come back, in milliseconds: a lock has been waited for already, a full disk takes somebody to look. */
const retryAfterMs = 5000;

/** The same keys, for calls: where the store cannot be asked, their callers are told so, and that they may come back. */
export function tellUnavailable(keys: KeyStore): KeyStore {
  return {
    ...keys,
    create: (record, terms) => keys.create(record, terms).catch(explain),
    findByHash: (hash) => keys.findByHash(hash).catch(explain),
    revoke: (id, at) => keys.revoke(id, at).catch(explain),
  };
}

function explain(cause: unknown): never {
  if (!(cause instanceof StoreUnavailable)) {
    throw cause;
  }
  const detail = "The API keys of this service cannot be read or written at the moment. Nothing was changed.";
  throw new KibitzError("store_unavailable", detail, { cause, retryAfterMs });
}
