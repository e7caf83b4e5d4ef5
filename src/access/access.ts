import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import type { RequestContext } from "../request/context.ts";
import { createMemoryLimitStore } from "../storage/memory/limit-store.ts";
import { type KeyStore, OutcomeUnknown, StoreUnavailable, type UsageStore } from "../storage/ports.ts";
import { type Account, type KeyRecord, localAccount, subjectOfKey } from "./account.ts";
import { createAuthenticator, isOtherScheme, wrongHeader } from "./authenticate.ts";
import { createClientAddress } from "./client-address.ts";
import { createKeyIssuer, createSelfService, type KeyIssuer } from "./key-issuer.ts";
import { createKeyExpiry } from "./keys.ts";
import { createLimits, type SharedLimitStore } from "./limits.ts";
import { createLongCalls } from "./long-calls.ts";
import { freePlan, keylessPlan, openPlan, type Plan, planOf } from "./plans.ts";

type Origin = Pick<RequestContext, "address" | "forwardedFor" | "authorization"> &
  Partial<Pick<RequestContext, "hasXApiKey">>;

export interface AccessOptions {
  /** In the mode `open`, nothing is limited; in `keys`, analyses require a key. */
  readonly mode: "public" | "keys" | "open";
  /** All plans, smallest first. The mode `open` ignores them. */
  readonly plans: readonly Plan[];
  /** Self-service keys for an address in 24 hours. 0 disables self-service. */
  readonly keysPerDay: number;
  /** Unused self-service keys expire after this time. 0: they never expire. */
  readonly keyExpiryDays: number;
  readonly selfServiceKeysMax: number;
  readonly pepper: string | undefined;
  /** Addresses and CIDRs of trusted proxies. */
  readonly trustedProxies: readonly string[];
  /** A known key is not looked up again for this time. */
  readonly knownMs?: number;
  readonly stores: {
    readonly keys: KeyStore;
    /** Undefined if limits are shared, because the shared store then has the engine time. */
    readonly usage?: UsageStore;
  };
  /** Set if other nodes serve the same callers. */
  readonly shared?: SharedAccess;
  readonly log: Pick<Log, "warn">;
}

export interface SharedAccess {
  readonly limits: SharedLimitStore;
  /** Returns milliseconds since 1970 by a clock that all nodes share; undefined until that clock was first read. */
  now(): number | undefined;
}

/** One call of `prune` deletes at most this number of rows: one commit, which takes a millisecond. */
const prunedAtOnce = 20;

export type Access = Awaited<ReturnType<typeof createAccess>>;

export async function createAccess(options: AccessOptions) {
  const { mode, keysPerDay, pepper, knownMs, stores, shared, log } = options;
  const { keys } = stores;
  const isOpen = mode === "open";
  const plans = plansIn(mode, options.plans);
  const keyless = isOpen ? openPlan : (planOf(options.plans, keylessPlan.id) ?? keylessPlan);
  // A key whose plan the operator has removed falls back to the free plan.
  const planOfKey = ({ plan }: KeyRecord) =>
    isOpen ? openPlan : (planOf(plans, plan) ?? planOf(plans, freePlan.id) ?? freePlan);
  const clientAddress = createClientAddress(options.trustedProxies, log);

  const now = () => Math.floor(shared?.now() ?? Date.now());
  const expiry = createKeyExpiry(options.keyExpiryDays, now);
  const authenticator = createAuthenticator({ keys, pepper, expiry, ...(knownMs && { knownMs }), now });
  const forget = (id: string) => authenticator.forget(id);
  const issuer = explained(createKeyIssuer({ keys, pepper, onEnded: forget, now }));

  const memory = createMemoryLimitStore(stores.usage);
  await memory.restore();
  const limits = createLimits(memory, shared?.limits);

  /** An unknown key costs a look-up, so it counts in the error quota of its address. */
  async function keyOf(authorization: string, caller: Account): Promise<KeyRecord> {
    let isLookedUp = false;
    try {
      return await authenticator.keyOf(authorization, () => {
        limits.errorQuota.check(caller);
        isLookedUp = true;
      });
    } catch (error) {
      if (isLookedUp && error instanceof KibitzError && error.code === "invalid_api_key") {
        limits.errorQuota.add(caller, 1);
      }
      return explain(error);
    }
  }

  return {
    /** Throws `invalid_api_key`, `store_unavailable`, or `rate_limited` if a look-up is needed and the error quota is used up. */
    async accountOf(request: Origin): Promise<Account> {
      const { authorization, hasXApiKey } = request;
      const address = clientAddress(request);
      const caller: Account = { subject: address, address, plan: keyless, key: undefined };
      if (authorization === undefined || (isOpen && isOtherScheme(authorization))) {
        if (hasXApiKey && !isOpen) {
          throw wrongHeader("has an X-API-Key header");
        }
        return caller;
      }
      const key = await keyOf(authorization, caller);
      return { subject: subjectOfKey(key), address, plan: planOfKey(key), key };
    },
    /** Returns the address under which a caller is counted, with or without a key. */
    addressOf: clientAddress,
    /** True if analyses require a key. */
    keysOnly: mode === "keys",
    /** Plans that callers can have, smallest first. */
    plans,
    /** Undefined if callers cannot get keys by themselves. */
    selfService:
      keysPerDay > 0
        ? createSelfService({ issuer, expiry, keysPerDay, keysMax: options.selfServiceKeysMax, log })
        : undefined,
    limits,
    longCalls: createLongCalls(),
    keys: issuer,
    /** Counts the requests since the start whose key was in memory, and those whose key was looked up. */
    lookUps: () => authenticator.counters,
    /** Stores the uses of keys and the engine time since the last call. Rejects if this fails; the next call then stores them. */
    async flush(): Promise<void> {
      const flushed = await Promise.allSettled([authenticator.flush(), limits.flush()]);
      const failed = flushed.find((one) => one.status === "rejected");
      if (failed) {
        throw failed.reason;
      }
    },
    /** Deletes a few of the keys and windows that have ended. Call this regularly, because each call is short. */
    async prune(): Promise<void> {
      await keys.prune(expiry.ended(), prunedAtOnce);
      await stores.usage?.prune(Date.now(), prunedAtOnce);
    },
  };
}

function plansIn(mode: AccessOptions["mode"], plans: readonly Plan[]): readonly Plan[] {
  switch (mode) {
    case "open":
      return [openPlan];
    case "keys":
      return plans.filter(({ requiresKey }) => requiresKey);
    case "public":
      return plans;
  }
}

/** For a process whose callers need no key. */
const noKeys: KeyStore = {
  create: async () => {
    throw new StoreUnavailable("this process stores no keys");
  },
  findByHash: async () => undefined,
  findById: async () => undefined,
  list: async () => [],
  revoke: async () => false,
  touch: async () => {},
  prune: async () => 0,
  keepPepperCheck: async (value) => value,
};

/** Creates the access for calls from this process, which has no limits and stores nothing. */
export async function createLocalAccess(): Promise<Access> {
  const stores = { keys: noKeys };
  const log = { warn() {} };
  const keys = { keysPerDay: 0, keyExpiryDays: 0, selfServiceKeysMax: 0, pepper: undefined };
  const rest = { plans: [], ...keys, trustedProxies: [], stores, log };
  return { ...(await createAccess({ mode: "open", ...rest })), accountOf: async () => localAccount };
}

function explained(issuer: KeyIssuer): KeyIssuer {
  return {
    ...issuer,
    issue: (wish) => issuer.issue(wish).catch(explain),
    revoke: (id) => issuer.revoke(id).catch(explain),
  };
}

/** The store has already waited for a lock, and a full disk needs an operator, so an earlier retry makes no sense. */
const retryAfterMs = 5000;

/** Throws `store_unavailable` if the store is unavailable, and every other error unchanged. */
function explain(cause: unknown): never {
  if (!(cause instanceof StoreUnavailable)) {
    throw cause;
  }
  const detail =
    cause instanceof OutcomeUnknown
      ? "The API keys of this service could not be written in time: it may or may not have been done. Ask again, with the same idempotency_key if there was one."
      : "The API keys of this service cannot be read or written at the moment. Nothing was changed.";
  throw new KibitzError("store_unavailable", detail, { cause, retryAfterMs });
}
