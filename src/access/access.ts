import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import type { RequestContext } from "../request/context.ts";
import { keyRules } from "../storage/key-rules.ts";
import { createMemoryLimitStore } from "../storage/memory/limit-store.ts";
import {
  type KeyRecord,
  type KeyStore,
  OutcomeUnknown,
  StoreUnavailable,
  type UsageStore,
} from "../storage/ports.ts";
import { wall } from "../time/time.ts";
import { type Account, localAccount, subjectOfKey } from "./account.ts";
import { createAuthenticator, isOtherScheme, wrongHeader } from "./authenticate.ts";
import { createClientAddress } from "./client-address.ts";
import { createKeyIssuer, createSelfService, type KeyIssuer } from "./key-issuer.ts";
import { createKeyExpiry } from "./keys.ts";
import { createKeyOffer } from "./limit-errors.ts";
import { createLimits, type SharedLimitStore } from "./limits.ts";
import { createLongCalls } from "./long-calls.ts";
import { builtInPlans, freePlan, keylessPlan, openPlan, type Plan, planOf, windowLengths } from "./plans.ts";

type Origin = Pick<RequestContext, "address" | "forwardedFor" | "authorization"> &
  Partial<Pick<RequestContext, "hasXApiKey">>;

export interface AccessOptions {
  /** `public`: an API key is optional. `keys`: analyses require a key. `open`: no limits apply. */
  readonly mode: "public" | "keys" | "open";
  readonly plans: readonly Plan[];
  /** The maximum number of keys that one address can create within 24 hours. 0: only the operator can create keys. */
  readonly keysPerDay: number;
  /** Keys that callers created expire after this number of days without use. 0: these keys never expire. */
  readonly keyExpiryDays: number;
  readonly selfServiceKeysMax: number;
  readonly pepper: string | undefined;
  /** Returns the caller's IPv4 address, or the /64 network of an IPv6 address. */
  readonly addressOf: (origin: Pick<RequestContext, "address" | "forwardedFor">) => string;
  /** Milliseconds for which a key stays in memory before the store is read again. */
  readonly knownMs?: number;
  readonly stores: {
    readonly keys: KeyStore;
    /** Stores the used engine time, so that a restart does not reset the limits. Undefined if several nodes share a store. */
    readonly usage?: UsageStore;
  };
  readonly shared?: SharedAccess;
  readonly log: Pick<Log, "warn">;
}

export interface SharedAccess {
  readonly limits: SharedLimitStore;
  /** Returns milliseconds since 1970 by a clock that all nodes share. Undefined until the clock was read once. */
  now(): number | undefined;
}

/** Deleting this number of windows takes about a millisecond. */
const prunedAtOnce = 20;

export type Access = Awaited<ReturnType<typeof createAccess>>;

export async function createAccess(options: AccessOptions) {
  const { mode, keysPerDay, pepper, knownMs, stores, shared, addressOf, log } = options;
  const { keys } = stores;
  const isOpen = mode === "open";
  let plans: readonly Plan[] = [];
  let keyless = openPlan;
  function usePlans(given: readonly Plan[]): void {
    plans = plansIn(mode, given);
    keyless = isOpen ? openPlan : (planOf(given, keylessPlan.id) ?? keylessPlan);
  }
  usePlans(options.plans);
  // If the operator has removed the plan of a key, the free plan applies.
  const planOfKey = ({ plan }: KeyRecord) =>
    isOpen ? openPlan : (planOf(plans, plan) ?? planOf(plans, freePlan.id) ?? freePlan);

  const now = () => Math.floor(shared?.now() ?? wall());
  const expiry = createKeyExpiry(options.keyExpiryDays, now);
  const authenticator = createAuthenticator({ keys, pepper, expiry, ...(knownMs && { knownMs }), now });
  const forget = (id: string) => authenticator.forget(id);
  const issuer = explained(createKeyIssuer({ keys, pepper, onEnded: forget, now }));

  const memory = createMemoryLimitStore(stores.usage);
  await memory.restore(windowLengths([...builtInPlans, ...options.plans]));
  const offerKey = createKeyOffer(() => plans, keysPerDay > 0);
  const limits = createLimits(memory, shared?.limits, offerKey);

  /** Each look-up of an unknown key adds an error to the error quota of the caller's address. */
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
    /** Throws `invalid_api_key`, `store_unavailable`, or `rate_limited` if the error quota is used up. */
    async accountOf(request: Origin): Promise<Account> {
      const { authorization, hasXApiKey } = request;
      const address = addressOf(request);
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
    addressOf,
    isKeyRequired: mode === "keys",
    /** The operator can change the plans while the server runs. */
    get plans() {
      return plans;
    },
    /** Calls in flight keep their plan. */
    usePlans,
    /** Rejects with StoreUnavailable. */
    keysByPlan: () => keys.countByPlan(),
    selfService:
      keysPerDay > 0
        ? createSelfService({ issuer, expiry, keysPerDay, keysMax: options.selfServiceKeysMax, log })
        : undefined,
    limits,
    longCalls: createLongCalls(offerKey),
    keys: issuer,
    lookUps: () => authenticator.counters,
    /** Stores the engine time and the last use of each key. If the promise rejects, the next call stores the same values. */
    async flush(): Promise<void> {
      const flushed = await Promise.allSettled([authenticator.flush(), limits.flush()]);
      const failed = flushed.find((one) => one.status === "rejected");
      if (failed) {
        throw failed.reason;
      }
    },
    /** Deletes a few keys that expired or were revoked long ago, and a few windows that have ended. Call this regularly. */
    async prune(): Promise<void> {
      await keys.prune(expiry.ended(), keyRules.endedAtOnce);
      await stores.usage?.prune(wall(), prunedAtOnce);
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

const noKeys: KeyStore = {
  create: storesNone,
  createAll: storesNone,
  findByHash: async () => undefined,
  findById: async () => undefined,
  list: async () => [],
  revoke: async () => false,
  update: async () => undefined,
  replace: storesNone,
  touch: async () => {},
  prune: async () => 0,
  countByPlan: async () => new Map(),
  keepPepperCheck: async (value) => value,
  pepperCheck: async () => undefined,
};

async function storesNone(): Promise<never> {
  throw new StoreUnavailable("this process stores no keys");
}

export async function createLocalAccess(): Promise<Access> {
  const stores = { keys: noKeys };
  const log = { warn() {} };
  const keys = { keysPerDay: 0, keyExpiryDays: 0, selfServiceKeysMax: 0, pepper: undefined };
  const rest = { plans: [], ...keys, addressOf: createClientAddress([], log), stores, log };
  return { ...(await createAccess({ mode: "open", ...rest })), accountOf: async () => localAccount };
}

function explained(issuer: KeyIssuer): KeyIssuer {
  return {
    ...issuer,
    issue: (wish) => issuer.issue(wish).catch(explain),
    revoke: (id) => issuer.revoke(id).catch(explain),
  };
}

/** The server has already waited some seconds for a locked database, so an earlier retry by the client would probably fail. */
const retryAfterMs = 5000;

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
