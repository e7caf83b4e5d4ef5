import type { Log } from "../log/log.ts";
import { keyRules } from "../storage/key-rules.ts";
import { createWindows } from "../storage/memory/windows.ts";
import {
  type IssueTerms,
  type KeyChange,
  type KeyRecord,
  type KeyStore,
  OutcomeUnknown,
  StoreUnavailable,
} from "../storage/ports.ts";
import { uuidv7 } from "../text/uuidv7.ts";
import { sleep, wall } from "../time/time.ts";
import { widerNetworkOf } from "./client-address.ts";
import { createApiKey, hashOfApiKey, type KeyExpiry } from "./keys.ts";
import { freePlan } from "./plans.ts";

interface KeyWish {
  readonly name: string | undefined;
  readonly plan: string;
  /** The address of the caller that creates the key. Undefined if the operator creates the key. */
  readonly issuedTo?: string | undefined;
  readonly terms?: IssueTerms;
  readonly expiresAt?: number | undefined;
  /** See {@link KeyRecord}. */
  readonly account?: string | undefined;
}

/** The secret is not stored. */
export interface NewKey {
  readonly key: string;
  readonly record: KeyRecord;
}

export type IssuedKey =
  /** `isRenewed`: an earlier key has a new secret. No key was created. */
  | { readonly kind: "issued"; readonly key: string; readonly record: KeyRecord; readonly isRenewed: boolean }
  | TooManyKeys
  | TooManyRenewals
  | { readonly kind: "full" };

/** The address or network has created `max` keys. The next key can be created in `waitMs` milliseconds. */
export interface TooManyKeys {
  readonly kind: "too_many";
  readonly of: "address" | "network";
  readonly max: number;
  readonly waitMs: number;
}

/** The address has renewed keys `max` times within a minute. The next renewal is possible in `waitMs` milliseconds. */
export interface TooManyRenewals {
  readonly kind: "too_many_renewals";
  readonly max: number;
  readonly waitMs: number;
}

/** With these values, a change is repeated for about 5 s, in which the store can be reached again after a short failure. */
const repeatsMax = 20;
const repeatPauseMs = 250;

interface KeyIssuerOptions {
  readonly keys: KeyStore;
  readonly pepper: string | undefined;
  readonly onEnded?: (id: string) => void;
  readonly now?: () => number;
}

export type KeyIssuer = ReturnType<typeof createKeyIssuer>;

export function createKeyIssuer({ keys, pepper, onEnded = () => {}, now = wall }: KeyIssuerOptions) {
  function newKey({ name, plan, issuedTo, expiresAt, account }: KeyWish): NewKey {
    const key = createApiKey();
    const hash = hashOfApiKey(key, pepper);
    const times = { createdAt: now(), lastUsedAt: undefined, revokedAt: undefined, expiresAt };
    const record = { id: uuidv7(), hash, name, plan, issuedTo, account, replacedBy: undefined, ...times };
    return { key, record };
  }

  return {
    async issue(wish: KeyWish): Promise<IssuedKey> {
      const { key, record } = newKey(wish);
      const issued = await keys.create(record, wish.terms);
      switch (issued.kind) {
        case "created":
          return { kind: "issued", key, record, isRenewed: false };
        case "renewed":
          onEnded(issued.record.id);
          return { kind: "issued", key, record: issued.record, isRenewed: true };
        case "too_many": {
          const { kind, of, max, againAt } = issued;
          return { kind, of, max, waitMs: againAt - record.createdAt };
        }
        case "full":
          return issued;
      }
    },
    /** Creates all keys, or none. */
    async issueAll(count: number, wish: Omit<KeyWish, "terms">): Promise<readonly NewKey[]> {
      const all = Array.from({ length: count }, () => newKey(wish));
      await keys.createAll(all.map(({ record }) => record));
      return all;
    },
    /**
     * Creates a key of the same account with the same name, plan and end. The earlier key ends after `overlapMs`, or at its own
     * end if that is earlier. Resolves with undefined if the key is unknown, revoked, expired, or was already replaced: the next
     * key would end with the overlap of the first replacement.
     */
    async rotate(id: string, expiry: KeyExpiry, overlapMs = 0): Promise<NewKey | undefined> {
      // Read the key again if another command has changed it meanwhile, so that the next key gets the changed values.
      for (;;) {
        const earlier = await keys.findById(id);
        const isValid = earlier?.revokedAt === undefined && earlier?.replacedBy === undefined;
        if (earlier === undefined || !isValid || expiry.hasExpired(earlier)) {
          return undefined;
        }
        const { name, plan, issuedTo, expiresAt, account = id } = earlier;
        const rotated = newKey({ name, plan, issuedTo, expiresAt, account });
        const end =
          overlapMs === 0
            ? { revokedAt: now() }
            : { expiresAt: Math.min(now() + overlapMs, expiresAt ?? Number.POSITIVE_INFINITY) };
        if (await repeatedIfUnknown(() => keys.replace(earlier, rotated.record, end))) {
          onEnded(id);
          return rotated;
        }
      }
    },
    update: (id: string, change: KeyChange) => keys.update(id, change),
    async revoke(id: string): Promise<boolean> {
      const known = await keys.revoke(id, now());
      onEnded(id);
      return known;
    },
    list: () => keys.list(),
  };
}

/** Repeats a change whose reply was lost until the store replies again, because the change may have been made. */
async function repeatedIfUnknown<T>(change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (lost) {
    if (!(lost instanceof OutcomeUnknown)) {
      throw lost;
    }
    for (let repeats = 0; repeats < repeatsMax; repeats++) {
      await sleep(repeatPauseMs);
      try {
        return await change();
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) {
          throw error;
        }
      }
    }
    throw lost;
  }
}

interface SelfServiceWish {
  readonly address: string;
  readonly name: string | undefined;
  /** If the same address sends this value again within a day, no second key is created. The first key gets a new secret. */
  readonly idempotencyKey: string | undefined;
}

interface SelfServiceOptions {
  readonly issuer: Pick<KeyIssuer, "issue">;
  readonly expiry: KeyExpiry;
  readonly keysPerDay: number;
  readonly keysMax: number;
  readonly log: Pick<Log, "warn">;
}

const { addressesOfNetwork, issueWindowMs, renewals: renewalRule } = keyRules;

export function createSelfService(options: SelfServiceOptions) {
  const { issuer, expiry, keysPerDay, keysMax, log } = options;
  const renewals = createWindows();
  let isFull = false;
  return {
    async issue({ address, name, idempotencyKey }: SelfServiceWish): Promise<IssuedKey> {
      const renewalsOf = { rate: "key renewals", subject: address, windowMs: renewalRule.windowMs };
      const { used, endsInMs } = renewals.of(renewalsOf);
      if (idempotencyKey !== undefined && used >= renewalRule.max) {
        return { kind: "too_many_renewals", max: renewalRule.max, waitMs: endsInMs };
      }
      const wider = widerNetworkOf(address);
      const terms: IssueTerms = {
        quota: { max: keysPerDay, windowMs: issueWindowMs },
        network: wider === undefined ? undefined : { name: wider, max: keysPerDay * addressesOfNetwork },
        keptMax: keysMax,
        ended: expiry.endedIfFull(),
        idempotencyKey,
      };
      const mayRenew = idempotencyKey === undefined ? 0 : 1;
      let isRenewed = false;
      let issued: IssuedKey;
      // Count before the database answers, because further requests can arrive meanwhile.
      renewals.add(renewalsOf, mayRenew);
      try {
        issued = await issuer.issue({ name, plan: freePlan.id, issuedTo: address, terms });
        isRenewed = issued.kind === "issued" && issued.isRenewed;
      } finally {
        if (!isRenewed) {
          renewals.add(renewalsOf, -mayRenew);
        }
      }
      if (issued.kind === "full" && !isFull) {
        log.warn(
          {},
          "no more keys are issued on request: there are as many as KIBITZ_SELF_SERVICE_KEYS_MAX allows. Raise it, or lower KIBITZ_KEY_EXPIRY_DAYS.",
        );
      }
      isFull = issued.kind === "full" || (isFull && issued.kind !== "issued");
      return issued;
    },
  };
}
