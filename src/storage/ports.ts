/**
 * Keeps answers that never change. Values are plain data: a store may write them as JSON, and whoever gets one
 * must not change it.
 */
export interface AnalysisCache<T> {
  /**
   * The value of a key, or undefined. Memory answers at once and a store beyond the network with a promise, so
   * that an answer from memory costs no turn of the event loop. Never throws or rejects: a store that cannot be
   * asked has nothing. A promise settles as soon as `signal` is aborted.
   */
  get(key: string, signal: AbortSignal): T | undefined | Promise<T | undefined>;
  /** Keeps a value, as long as there is room. Nobody waits for it; a failure is for the store's own log. */
  set(key: string, value: T): void;
}

/** A store cannot be asked at the moment: its disk is full, somebody has it locked, it is not there. */
export class StoreUnavailable extends Error {}

/** Told how a store does, by whoever asks it: for the log. */
export interface StoreWatch {
  worked(what: "read" | "write"): void;
  failed(what: "read" | "write", why: string): void;
}

export const unwatched: StoreWatch = { worked() {}, failed() {} };

/** An API key, as far as it is kept: enough to know it again, not enough to use it. */
export interface KeyRecord {
  /** Public id. */
  readonly id: string;
  /** Of the key, in hex. Unique. */
  readonly hash: string;
  readonly name: string | undefined;
  /** Id of its plan. */
  readonly plan: string;
  /** In milliseconds since 1970, as all times here. */
  readonly createdAt: number;
  /** Address of the caller who got it without the operator. */
  readonly issuedTo: string | undefined;
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
}

/** How many keys an address may be issued. */
export interface IssueQuota {
  readonly max: number;
  readonly windowMs: number;
}

/** Keys that are good for nothing any more. */
export interface EndedKeys {
  /** Revoked before this time. */
  readonly revokedBefore: number;
  /** Issued without the operator, and neither made nor used since this time. */
  readonly unusedSince: number;
}

/** On what terms a key is issued without the operator. */
export interface IssueTerms {
  readonly quota: IssueQuota;
  /** A network that may be one customer's, and how many keys all its addresses may be issued together in the same window. */
  readonly network: { readonly name: string; readonly max: number } | undefined;
  /** How many keys of callers may be kept in all. */
  readonly keptMax: number;
  /** What may be forgotten where so many are kept. */
  readonly ended: EndedKeys;
  /** What the caller calls this wish by: who wishes the same again in the window gets the same key, with a new secret. */
  readonly idempotencyKey: string | undefined;
}

export type Issued =
  | { readonly kind: "created" }
  /** The wish was known: the key of then is kept with the hash that was given now. */
  | { readonly kind: "renewed"; readonly record: KeyRecord }
  /** `max` is how many it may be issued; `againAt` is when the oldest key of the window leaves it. */
  | {
      readonly kind: "too_many";
      readonly of: "address" | "network";
      readonly max: number;
      readonly againAt: number;
    }
  /** There is no room for one more. */
  | { readonly kind: "full" };

/**
 * Keeps API keys. What a method has resolved survives the death of the process. All methods reject with
 * StoreUnavailable where the store cannot be asked, and have changed nothing then.
 */
export interface KeyStore {
  /**
   * Keeps a new key, unless the terms forbid it: all in one step, so that nobody slips through. Keys that are more than
   * the window ahead of this one were made by a clock that ran ahead, and do not count. A key that was revoked counts in
   * its window, but is never renewed.
   */
  create(record: KeyRecord, terms?: IssueTerms): Promise<Issued>;
  findByHash(hash: string): Promise<KeyRecord | undefined>;
  findById(id: string): Promise<KeyRecord | undefined>;
  /** All keys, revoked ones too, oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** False where there is no such key. One that is revoked stays as it is. */
  revoke(id: string, at: number): Promise<boolean>;
  /** Notes when keys were last used, by id. A time that is not later than the noted one changes nothing. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Forgets some keys that have ended, so many at most: a step that holds nobody up. Resolves with their number. */
  prune(ended: EndedKeys, max: number): Promise<number>;
}

/** Engine time used in one window of a rate. */
export interface EngineTime {
  /** Plan and name of the rate. */
  readonly rate: string;
  /** Id of a key, or an address. */
  readonly subject: string;
  readonly engineMs: number;
  /** When the window ends. */
  readonly resetsAt: number;
}

/**
 * Keeps what was used of windows that are long enough to outlive a process. Rejects with StoreUnavailable where the
 * store cannot be asked, and has changed nothing then.
 */
export interface UsageStore {
  /**
   * Adds to what is kept of the same rate and subject. Where that window has ended at `now`, it counts no more; of two
   * ends the sooner one holds, so that a window from a clock that ran ahead does not last until that comes true.
   */
  add(spent: readonly EngineTime[], now: number): Promise<void>;
  /** What counts at `now`. */
  current(now: number): Promise<readonly EngineTime[]>;
  /** Forgets some of what counts no more at `now`, so much at most. Resolves with its number. */
  prune(now: number, max: number): Promise<number>;
}
