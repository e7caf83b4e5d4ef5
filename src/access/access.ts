import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import type { RequestContext } from "../request/context.ts";
import { createMemoryKeyStore } from "../storage/memory/key-store.ts";
import { createMemoryUsageStore } from "../storage/memory/usage-store.ts";
import {
  type KeyRecord,
  type KeyStore,
  OutcomeUnknown,
  StoreUnavailable,
  type UsageStore,
} from "../storage/ports.ts";
import { type Account, localAccount, subjectOfKey } from "./account.ts";
import {
  type AuthenticatorCounters,
  createAuthenticator,
  type KeyGrace,
  wrongHeader,
} from "./authenticate.ts";
import { type CallRates, createCallRates } from "./call-rates.ts";
import { createClientAddress } from "./client-address.ts";
import { createKeyExpiry, createKeyIssuer, type KeyIssuer } from "./keys.ts";
import { refuseSpent } from "./limit-errors.ts";
import { createMemoryLimits, type Limits } from "./limits.ts";
import { createLongCalls, type LongCalls } from "./long-calls.ts";
import { freePlan, keylessPlan, openPlan, type Plan, planOf } from "./plans.ts";
import { createSelfService, type SelfService } from "./self-service.ts";

/** Who may ask, and how much. */
export interface Access {
  /** @throws KibitzError `invalid_api_key`; `rate_limited` for a key that is not in memory if its address has used up its error quota */
  accountOf(request: Origin): Promise<Account>;
  /** The address that a caller is known by, whoever it is. */
  addressOf(request: Origin): string;
  /** Whether analyses are for holders of keys only. */
  readonly keysOnly: boolean;
  /** The plans that callers can have, smallest first. */
  readonly plans: readonly Plan[];
  /** What callers may issue themselves; undefined where they may not. */
  readonly selfService: SelfService | undefined;
  readonly limits: Limits;
  readonly longCalls: LongCalls;
  /** The rate of calls that are not analyses, by address. */
  readonly callRates: CallRates;
  readonly keys: KeyIssuer;
  /** Look-ups of keys since the start. */
  readonly lookUps: () => AuthenticatorCounters;
  /**
   * Writes down what is kept in memory so that not every request costs a write. Rejects where something could not be
   * written: that is kept for the next time.
   */
  flush(): Promise<void>;
  /** Forgets a few of the keys and windows that have ended. To be called again and again: no step holds anybody up. */
  prune(): Promise<void>;
}

type Origin = Pick<RequestContext, "address" | "forwardedFor" | "authorization"> &
  Partial<Pick<RequestContext, "hasXApiKey">>;

export interface AccessOptions {
  /** `open` knows no limits; `keys` answers analyses only with a key. */
  readonly mode: "public" | "keys" | "open";
  /** All plans, smallest first. In `open` nobody is limited by one. */
  readonly plans: readonly Plan[];
  /** Keys that an address may get by itself in 24 hours; 0 for none. */
  readonly keysPerDay: number;
  /** Days after which keys that callers got by themselves expire if nobody uses them; 0 for never. */
  readonly keyExpiryDays: number;
  /** Keys that callers got by themselves, in all. */
  readonly selfServiceKeysMax: number;
  readonly pepper: string | undefined;
  /** Addresses and CIDRs. */
  readonly trustedProxies: readonly string[];
  /** How long a key counts as known, in milliseconds; as the authenticator has it, unless given. */
  readonly knownMs?: number;
  readonly stores: {
    readonly keys: KeyStore;
    /** None where limits are shared: their store has it. */
    readonly usage?: UsageStore;
  };
  /** Where other nodes answer the same callers. */
  readonly shared?: SharedAccess;
  readonly log: Pick<Log, "warn">;
}

/** What nodes that answer the same callers have together. */
export interface SharedAccess {
  readonly limits: Limits;
  readonly grace: KeyGrace;
  /** Tells of keys whose secret another node has ended. */
  onKeyEnded(hear: (id: string) => void): void;
  /** The time, by a clock that all nodes have, in milliseconds since 1970. Undefined where that was not asked yet. */
  now(): number | undefined;
}

/** Rows that one step of forgetting takes at most: a commit and a millisecond. */
const prunedAtOnce = 20;

export async function createAccess(options: AccessOptions): Promise<Access> {
  const { mode, keysPerDay, pepper, knownMs, stores, shared, log } = options;
  const keys = mapStoreErrors(stores.keys);
  const plans = plansIn(mode, options.plans);
  const keyless = planOf(options.plans, keylessPlan.id) ?? keylessPlan;
  // A plan that the operator has taken away leaves its keys with what everybody can have.
  const planOfKey = ({ plan }: KeyRecord) => planOf(plans, plan) ?? planOf(plans, freePlan.id) ?? freePlan;
  const clientAddress = createClientAddress(options.trustedProxies, log);
  const now = () => Math.floor(shared?.now() ?? Date.now());
  const expiry = createKeyExpiry(options.keyExpiryDays, now);
  const authenticator = createAuthenticator({
    keys,
    pepper,
    expiry,
    ...(knownMs && { knownMs }),
    now,
    ...(shared && { grace: shared.grace }),
  });
  shared?.onKeyEnded((id) => authenticator.forget(id));
  const issuer = createKeyIssuer({ keys, pepper, onEnded: (id) => authenticator.forget(id), now });
  const limits =
    shared?.limits ?? (await createMemoryLimits(plans, stores.usage ?? createMemoryUsageStore()));
  const isOpen = mode === "open";
  const callRates = createCallRates();

  const keylessAt = (address: string): Account => ({
    subject: address,
    address,
    plan: isOpen ? openPlan : keyless,
    key: undefined,
  });

  /** An unknown key costs a look-up, so it counts in the error quota of its address. */
  async function keyOf(authorization: string, address: string): Promise<KeyRecord> {
    const caller = keylessAt(address);
    let isLookedUp = false;
    try {
      return await authenticator.keyOf(authorization, () => {
        refuseSpent(limits, caller);
        isLookedUp = true;
      });
    } catch (error) {
      if (isLookedUp && error instanceof KibitzError && error.code === "invalid_api_key") {
        limits.refusals.add(caller, 1);
      }
      throw error;
    }
  }

  return {
    async accountOf(request) {
      const address = clientAddress(request);
      if (request.authorization === undefined) {
        if (request.hasXApiKey && !isOpen) {
          throw wrongHeader("has an X-API-Key header");
        }
        return keylessAt(address);
      }
      const key = await keyOf(request.authorization, address);
      return { subject: subjectOfKey(key), address, plan: isOpen ? openPlan : planOfKey(key), key };
    },
    addressOf: clientAddress,
    keysOnly: mode === "keys",
    plans,
    selfService:
      keysPerDay > 0
        ? createSelfService({ issuer, expiry, keysPerDay, keysMax: options.selfServiceKeysMax, log })
        : undefined,
    limits,
    longCalls: createLongCalls(),
    callRates,
    keys: issuer,
    lookUps: () => authenticator.counters,
    async flush() {
      const flushed = await Promise.allSettled([authenticator.flush(), limits.flush()]);
      const failed = flushed.find((one) => one.status === "rejected");
      if (failed) {
        throw failed.reason;
      }
    },
    async prune() {
      await keys.prune(expiry.ended(), prunedAtOnce);
      await stores.usage?.prune(Date.now(), prunedAtOnce);
    },
  };
}

/** The plans that callers can have in a mode. */
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

/** For calls from this process: no limits, nothing kept. */
export async function createLocalAccess(): Promise<Access> {
  const stores = { keys: createMemoryKeyStore() };
  const log = { warn() {} };
  const keys = { keysPerDay: 0, keyExpiryDays: 0, selfServiceKeysMax: 0, pepper: undefined };
  const rest = { plans: [], ...keys, trustedProxies: [], stores, log };
  return { ...(await createAccess({ mode: "open", ...rest })), accountOf: async () => localAccount };
}

/** When a caller may come back, in milliseconds: a lock has been waited for already, a full disk takes somebody to look. */
const retryAfterMs = 5000;

/** The same keys, for calls: where the store cannot be asked, their callers are told so, and that they may come back. */
export function mapStoreErrors(keys: KeyStore): KeyStore {
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
  const detail =
    cause instanceof OutcomeUnknown
      ? "The API keys of this service could not be written in time: it may or may not have been done. Ask again, with the same idempotency_key if there was one."
      : "The API keys of this service cannot be read or written at the moment. Nothing was changed.";
  throw new KibitzError("store_unavailable", detail, { cause, retryAfterMs });
}
