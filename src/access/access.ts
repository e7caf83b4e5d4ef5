import type { Caller } from "../caller.ts";
import type { Log } from "../log/log.ts";
import { createMemoryKeyStore } from "../storage/memory/key-store.ts";
import { createMemoryUsageStore } from "../storage/memory/usage-store.ts";
import type { IssueQuota, KeyRecord, KeyStore, UsageStore } from "../storage/ports.ts";
import { type Account, localAccount } from "./account.ts";
import { type AuthenticatorCounters, createAuthenticator } from "./authenticate.ts";
import { createClientAddress } from "./client-address.ts";
import { createKeyIssuer, type KeyIssuer } from "./key-issuer.ts";
import { createLimits, type Limits } from "./limits.ts";
import { freePlan, keylessPlan, openPlan, type Plan, planOf } from "./plans.ts";
import { tellUnavailable } from "./tell-unavailable.ts";

/** Who may ask, and how much. */
export interface Access {
  /** Who makes a call. At once where that is known, else with a promise. @throws KibitzError `invalid_api_key` */
  accountOf(caller: Origin): Account | Promise<Account>;
  /** The address that a caller is known by, whoever it is. */
  addressOf(caller: Origin): string;
  /** Whether analyses are for holders of keys only. */
  readonly keysOnly: boolean;
  /** The plans that callers can have, smallest first. */
  readonly plans: readonly Plan[];
  /** What callers may issue themselves; undefined where they may not. */
  readonly selfService: SelfService | undefined;
  readonly limits: Limits;
  readonly keys: KeyIssuer;
  readonly lookUps: AuthenticatorCounters;
  /**
   * Writes down what is kept in memory so that not every request costs a write. Rejects where something could not be
   * written: that is kept for the next time.
   */
  flush(): Promise<void>;
}

export interface SelfService {
  /** Id of the plan of such keys. */
  readonly plan: string;
  readonly quota: IssueQuota;
}

type Origin = Pick<Caller, "address" | "forwardedFor" | "authorization">;

export interface AccessOptions {
  /** `open` knows no limits; `keys` answers analyses only with a key. */
  readonly mode: "public" | "keys" | "open";
  /** All plans, smallest first. In `open` nobody is limited by one. */
  readonly plans: readonly Plan[];
  /** Keys that an address may get by itself in 24 hours; 0 for none. */
  readonly keysPerDay: number;
  readonly pepper: string | undefined;
  /** Addresses and CIDRs. */
  readonly trustedProxies: readonly string[];
  readonly stores: { readonly keys: KeyStore; readonly usage: UsageStore };
  readonly log: Pick<Log, "warn">;
}

const dayMs = 86_400_000;

export async function createAccess(options: AccessOptions): Promise<Access> {
  const { mode, keysPerDay, pepper, stores } = options;
  const keys = tellUnavailable(stores.keys);
  const plans = plansIn(mode, options.plans);
  const keyless = planOf(options.plans, keylessPlan.id) ?? keylessPlan;
  // A plan that the operator has taken away leaves its keys with what everybody can have.
  const planOfKey = ({ plan }: KeyRecord) => planOf(plans, plan) ?? planOf(plans, freePlan.id) ?? freePlan;
  const clientAddress = createClientAddress(options.trustedProxies, options.log);
  const authenticator = createAuthenticator({ keys, pepper });
  const limits = await createLimits({ plans, usage: stores.usage });
  const isOpen = mode === "open";

  const accountOfKey = (key: KeyRecord, address: string): Account => ({
    subject: key.id,
    address,
    plan: isOpen ? openPlan : planOfKey(key),
    key,
  });

  return {
    accountOf(caller) {
      const address = clientAddress(caller);
      if (caller.authorization === undefined) {
        return { subject: address, address, plan: isOpen ? openPlan : keyless, key: undefined };
      }
      const key = authenticator.keyOf(caller.authorization);
      return key instanceof Promise
        ? key.then((record) => accountOfKey(record, address))
        : accountOfKey(key, address);
    },
    addressOf: clientAddress,
    keysOnly: mode === "keys",
    plans,
    selfService:
      keysPerDay > 0 ? { plan: freePlan.id, quota: { max: keysPerDay, windowMs: dayMs } } : undefined,
    limits,
    keys: createKeyIssuer({ keys, pepper, onRevoked: (id) => authenticator.forget(id) }),
    get lookUps() {
      return authenticator.counters;
    },
    async flush() {
      const flushed = await Promise.allSettled([authenticator.flush(), limits.flush()]);
      const failed = flushed.find((one) => one.status === "rejected");
      if (failed) {
        throw failed.reason;
      }
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

/** For calls from this process: no limits, nothing kept. */
export async function createLocalAccess(): Promise<Access> {
  const stores = { keys: createMemoryKeyStore(), usage: createMemoryUsageStore() };
  const log = { warn() {} };
  const rest = { plans: [], keysPerDay: 0, pepper: undefined, trustedProxies: [], stores, log };
  return { ...(await createAccess({ mode: "open", ...rest })), accountOf: () => localAccount };
}
