import type { Issued, IssueTerms, KeyRecord, KeyStore } from "../storage/ports.ts";
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
  /** Address of the caller who gets it without the operator. */
  readonly issuedTo?: string | undefined;
  /** On what terms; without, it is issued in any case. */
  readonly terms?: IssueTerms;
}

export type IssuedKey =
  | { readonly kind: "issued"; readonly key: string; readonly record: KeyRecord }
  | Exclude<Issued, { readonly kind: "created" | "renewed" }>;

export interface KeyIssuerOptions {
  readonly keys: KeyStore;
  readonly pepper: string | undefined;
  /** Told of which key a secret is valid no more. */
  readonly onEnded?: (id: string) => void;
}

export function createKeyIssuer({ keys, pepper, onEnded = () => {} }: KeyIssuerOptions): KeyIssuer {
  const issuer: KeyIssuer = {
    async issue({ name, plan, issuedTo, terms }) {
      const key = createApiKey();
      const record: KeyRecord = {
        id: uuidv7(),
        hash: hashOfApiKey(key, pepper),
        name,
        plan,
        createdAt: Date.now(),
        issuedTo,
        lastUsedAt: undefined,
        revokedAt: undefined,
      };
      const issued = await keys.create(record, terms);
      switch (issued.kind) {
        case "created":
          return { kind: "issued", key, record };
        case "renewed":
          onEnded(issued.record.id);
          return { kind: "issued", key, record: issued.record };
        default:
          return issued;
      }
    },
    async rotate(id) {
      const record = await keys.findById(id);
      if (record === undefined || record.revokedAt !== undefined) {
        return undefined;
      }
      // Dying in between leaves two keys, which is better than none.
      const { name, plan, issuedTo } = record;
      const issued = await issuer.issue({ name, plan, issuedTo });
      await issuer.revoke(id);
      return issued;
    },
    async revoke(id) {
      const known = await keys.revoke(id, Date.now());
      onEnded(id);
      return known;
    },
    list: () => keys.list(),
  };
  return issuer;
}
