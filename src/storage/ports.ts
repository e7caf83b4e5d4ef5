/** Cached values never change, and are plain data, because a store may write them as JSON. Callers must not change them. */
export interface AnswerCache<T> {
  get(key: string): T | undefined;
  /** Keeps a value if there is room for it. */
  set(key: string, value: T): void;
}

/** The store outlives the process, and never throws: a failed read is a miss, and a failed write is lost. */
export type AnswerStore<T> = AnswerCache<T> & Disposable;

/** Answers that all nodes share. No method rejects or waits long: if the store is not available, every read is a miss. */
export interface SharedAnswers<T> {
  get(key: string): Promise<T | undefined>;
  /** Keeps a value if there is room for it. Does not wait for the write. */
  set(key: string, value: T): void;
}

/** The node that claims a search runs it for all nodes. Never rejects or waits long: if the store is down, each gets a claim. */
export interface SearchClaims<T> {
  /** Disposing of a claim ends it. */
  claim(search: string): Promise<SearchClaim<T>>;
}

type SearchClaim<T> = HeldClaim<T> | TakenClaim<T>;

/** This node holds the claim, and must search. */
interface HeldClaim<T> extends Disposable {
  readonly kind: "held";
  /** Gives the answer to the nodes that wait for this claim. Call this before the claim is disposed of. */
  publish(answer: T): void;
}

/** Another node holds the claim, and searches. */
interface TakenClaim<T> extends Disposable {
  readonly kind: "taken";
  /** Resolves with undefined if the claim of the other node ends without an answer, or if `signal` is aborted. */
  answer(signal: AbortSignal): Promise<T | undefined>;
}

/** The store is not available at the moment: its disk is full, another process has locked it, or it cannot be reached. */
export class StoreUnavailable extends Error {}

/** A write was sent to a store and the reply was lost. The store may have carried out the write. */
export class OutcomeUnknown extends StoreUnavailable {}

/** Called after each read and write of a store, for the log. */
export interface StoreWatch {
  worked(what: "read" | "write"): void;
  failed(what: "read" | "write", why: string): void;
}

export const unwatched: StoreWatch = { worked() {}, failed() {} };

/** An API key as it is stored, which is enough to recognize the key, but not to use it. */
export interface KeyRecord {
  readonly id: string;
  /** In hexadecimal. No two keys have the same hash. */
  readonly hash: string;
  readonly name: string | undefined;
  readonly plan: string;
  /** Milliseconds since 1970, like all times in this record. */
  readonly createdAt: number;
  /** The address of the caller that got a self-service key; undefined for a key of the operator. */
  readonly issuedTo: string | undefined;
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
}

interface IssueQuota {
  readonly max: number;
  readonly windowMs: number;
}

export interface EndedKeys {
  /** Keys that were revoked before this time may be deleted. */
  readonly revokedBefore: number;
  /** Self-service keys that were neither created nor used since this time may be deleted. */
  readonly unusedSince: number;
}

export interface IssueTerms {
  readonly quota: IssueQuota;
  /** A network that may belong to one customer, and the maximum number of keys of all its addresses in the same window. */
  readonly network: { readonly name: string; readonly max: number } | undefined;
  readonly keptMax: number;
  /** Keys that are deleted if there is no room for a new key. */
  readonly ended: EndedKeys;
  /** If the address sends an idempotency key again in the window, it gets the same key record with a new secret. */
  readonly idempotencyKey: string | undefined;
}

export type Issued =
  | { readonly kind: "created" }
  /** The idempotency key was known. The stored key record now has the hash of the new secret. */
  | { readonly kind: "renewed"; readonly record: KeyRecord }
  /** A quota, which is `max`, was exceeded. At `againAt`, the oldest key leaves the window. */
  | {
      readonly kind: "too_many";
      readonly of: "address" | "network";
      readonly max: number;
      readonly againAt: number;
    }
  | { readonly kind: "full" };

/** A resolved change survives the process. After StoreUnavailable, nothing has changed, unless it is OutcomeUnknown. */
export interface KeyStore {
  /**
   * Stores a new key in one step, unless the terms forbid it. A key created more than a window later does not count, because a
   * clock that ran ahead created it. A revoked key counts in its window, but is never renewed.
   */
  create(record: KeyRecord, terms?: IssueTerms): Promise<Issued>;
  findByHash(hash: string): Promise<KeyRecord | undefined>;
  findById(id: string): Promise<KeyRecord | undefined>;
  /** Resolves with all keys, also the revoked ones, oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** Resolves with false if there is no such key. A key that is already revoked stays unchanged. */
  revoke(id: string, at: number): Promise<boolean>;
  /** Stores the last uses of keys, by id. A time that is not later than the stored one changes nothing. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Deletes at most `max` ended keys, so that each call is short. Resolves with the number of deleted keys. */
  prune(ended: EndedKeys, max: number): Promise<number>;
  /** Stores the value, unless valid keys were hashed with another pepper. Resolves with the value that is then stored. */
  keepPepperCheck(value: string): Promise<string>;
}

export interface EngineTime {
  /** Plan and name of the rate. */
  readonly rate: string;
  /** The id of a key, or an address. */
  readonly subject: string;
  readonly engineMs: number;
  /** The end of the window, in milliseconds since 1970. */
  readonly resetsAt: number;
}

/** Stores the engine time of windows that outlive a process. After StoreUnavailable, nothing has changed. */
export interface UsageStore {
  /** Begins a new window if the stored one has ended. The earlier of two ends is kept, because a clock may have run ahead. */
  add(used: readonly EngineTime[], now: number): Promise<void>;
  /** Resolves with the windows that have not ended at `now`. */
  current(now: number): Promise<readonly EngineTime[]>;
  /** Deletes at most `max` windows that have ended at `now`. Resolves with the number of deleted windows. */
  prune(now: number, max: number): Promise<number>;
}

/** The window of a rate begins with the first use. */
export interface LimitWindow {
  /** Plan and name of the rate. */
  readonly rate: string;
  readonly subject: string;
  readonly windowMs: number;
}

export interface QuotaWindow extends LimitWindow {
  readonly quota: number;
}

export interface WindowUse {
  readonly used: number;
  /** The time until the window ends, by the store's clock. If the window has not begun, this is its whole length. */
  readonly endsInMs: number;
}

export interface AdmissionRequest {
  readonly subject: string;
  /** The maximum number of searches at a time, if there is a limit. */
  readonly concurrent: number | undefined;
  readonly expectedMs: number;
  /** If one of the windows of engine time is used up, the request is rejected. */
  readonly engineTime: readonly QuotaWindow[];
  /** An admitted request raises the use of each window by `count`. */
  readonly requests: readonly QuotaWindow[];
  readonly count: number;
}

type AdmissionAnswer =
  | { readonly kind: "admitted"; readonly place: TakenPlace; readonly requests: readonly WindowUse[] }
  /** The caller has as many searches in flight as its plan allows. */
  | { readonly kind: "busy"; readonly running: readonly RunningSearch[] }
  | { readonly kind: "exhausted"; readonly engineTime: readonly WindowUse[] }
  | { readonly kind: "full"; readonly requests: readonly WindowUse[] };

export interface RunningSearch {
  readonly expectedMs: number;
  readonly elapsedMs: number;
}

/** A plan limits the number of places, and so the searches at a time. */
export interface TakenPlace {
  /** Frees the place. The request continues without it. */
  free(): void;
  /** Frees the place and counts engine time. If `givesBack`, returns the requests to windows that last. Call this once. */
  leave(engineMs: number, givesBack: boolean): void;
}

/** Counts in this process or for all nodes. A dead node's places become free within seconds. Rejects with StoreUnavailable. */
export interface LimitStore {
  readonly available: boolean;
  /** Admits a request or counts nothing. If the store's reply is lost, the request may count, and its place expires. */
  enter(request: AdmissionRequest): Promise<AdmissionAnswer>;
  /** Resolves when the subject may hold fewer than `max` places. Another call may take the free place first. */
  placeFree(subject: string, max: number, signal: AbortSignal): Promise<void>;
  /** Resolves with the use of the window. */
  addRefusals(window: LimitWindow, count: number): Promise<WindowUse>;
  usesOf(windows: readonly LimitWindow[]): Promise<readonly WindowUse[]>;
}
