import type { IssueQuota, KeyRecord, KeyStore } from "../storage/ports.ts";
import { uuidv7 } from "../uuid.ts";
import { createApiKey, hashOfApiKey } from "./api-key.ts";

/** Issues keys and takes them back. */
export interface KeyIssuer {
  /** A new key, kept before it is shown. It is in no other answer again. */
  issue(wish: KeyWish): Promise<IssuedKey>;
  /** A new key for one that is valid no more from then on. Undefined where there is no such valid key. */
  rotate(id: string): Promise<IssuedKey | undefined>;
  /** False where there is no such key. */
  revoke(id: string): Promise<boolean>;
  list(): Promise<readonly KeyRecord[]>;
}

export interface KeyWish {
  readonly name: string | undefined;
  /** Id of a plan. */
  readonly plan: string;
  /** Where a caller gets it without the operator: the address, and how many it may get. */
  readonly selfService?: { readonly address: string; readonly quota: IssueQuota };
}

export type IssuedKey =
  | { readonly kind: "issued"; readonly key: string; readonly record: KeyRecord }
  /** `againAt` is in milliseconds since 1970. */
  | { readonly kind: "too_many"; readonly againAt: number };

export interface KeyIssuerOptions {
  readonly keys: KeyStore;
  readonly pepper: string | undefined;
  /** Told which key is valid no more. */
  readonly onRevoked?: (id: string) => void;
}

export function createKeyIssuer({ keys, pepper, onRevoked = () => {} }: KeyIssuerOptions): KeyIssuer {
  const issuer: KeyIssuer = {
    async issue({ name, plan, selfService }) {
      const key = createApiKey();
      const record: KeyRecord = {
        id: uuidv7(),
        hash: hashOfApiKey(key, pepper),
        name,
        plan,
        createdAt: Date.now(),
        issuedTo: selfService?.address,
        lastUsedAt: undefined,
        revokedAt: undefined,
      };
      const issued = await keys.create(record, selfService?.quota);
      return issued.kind === "created" ? { kind: "issued", key, record } : issued;
    },
    async rotate(id) {
      const record = await keys.findById(id);
      if (record === undefined || record.revokedAt !== undefined) {
        return undefined;
      }
      // Dying in between leaves two keys, which is better than none.
      const issued = await issuer.issue({ name: record.name, plan: record.plan });
      await issuer.revoke(id);
      return issued;
    },
    async revoke(id) {
      const known = await keys.revoke(id, Date.now());
      onRevoked(id);
      return known;
    },
    list: () => keys.list(),
  };
  return issuer;
}
