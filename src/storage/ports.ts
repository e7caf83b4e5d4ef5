/**
 * A cache of answers that never change. Values are plain data, because a store may write them as JSON. Callers must not change
 * them.
 */
export interface AnswerCache<T> {
  get(key: string): T | undefined;
  /** Keeps a value if there is room for it. */
  set(key: string, value: T): void;
}

/**
 * A cache of answers that outlives the process and is shared with other processes. It never throws: a failed read is a miss, and
 * a failed write is lost. A write is also lost if the process is killed a moment later.
 */
export type AnswerStore<T> = AnswerCache<T> & Disposable;

/** Answers that all nodes share. No method rejects or waits long: if the store is not available, every read is a miss. */
export interface SharedAnswers<T> {
  get(key: string): Promise<T | undefined>;
  /** Keeps a value if there is room for it. Does not wait for the write. */
  set(key: string, value: T): void;
}

/**
 * Claims on searches. The node with the claim searches for all nodes that get the same request at the same time. No method
 * rejects or waits long: if the store is not available, every node gets a claim of its own.
 */
export interface SearchClaims<T> {
  /** Claims a search for this node, unless another node has already claimed it. Disposing of the claim ends it. */
  claim(search: string): Promise<SearchClaim<T>>;
}

export type SearchClaim<T> = HeldClaim<T> | TakenClaim<T>;

/** A claim that this node holds. This node must search. */
interface HeldClaim<T> extends Disposable {
  readonly kind: "held";
  /** Gives the answer to the nodes that wait for this claim, and to no others. Call this before the claim is disposed of. */
  publish(answer: T): void;
}

/** A claim that another node holds. That node searches. */
interface TakenClaim<T> extends Disposable {
  readonly kind: "taken";
  /**
   * Resolves with the answer of the other node. Resolves with undefined if the claim of that node ends without an answer, or if
   * `signal` is aborted.
   */
  answer(signal: AbortSignal): Promise<T | undefined>;
}

/**
 * Thrown if a store is not available at the moment, because its disk is full, another process has locked it, or it cannot be
 * reached.
 */
export class StoreUnavailable extends Error {}

/** Thrown if a write was sent to a store and the reply was lost. The store may have carried out the write. */
export class OutcomeUnknown extends StoreUnavailable {}

/** Called after each read and write of a store, with its result, for the log. */
export interface StoreWatch {
  worked(what: "read" | "write"): void;
  failed(what: "read" | "write", why: string): void;
}

export const unwatched: StoreWatch = { worked() {}, failed() {} };

/** An API key as it is stored. The record is enough to recognize the key, but not to use it. */
export interface KeyRecord {
  /** Public id of the key. */
  readonly id: string;
  /** The hash of the key, in hexadecimal. No two keys have the same hash. */
  readonly hash: string;
  readonly name: string | undefined;
  /** Id of the key's plan. */
  readonly plan: string;
  /** Time when the key was created, in milliseconds since 1970, like all times in this record. */
  readonly createdAt: number;
  /** The address of the caller that got a self-service key. Undefined for a key of the operator. */
  readonly issuedTo: string | undefined;
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
}

/** The maximum number of self-service keys of one address in a window. */
export interface IssueQuota {
  readonly max: number;
  readonly windowMs: number;
}

/** The terms under which keys may be deleted. */
export interface EndedKeys {
  /** A key may be deleted if it was revoked before this time. */
  readonly revokedBefore: number;
  /** A self-service key may be deleted if it was neither created nor used since this time. */
  readonly unusedSince: number;
}

/** The terms under which a self-service key is issued. */
export interface IssueTerms {
  readonly quota: IssueQuota;
  /** A network that may belong to one customer, and the maximum number of keys of all its addresses in the same window. */
  readonly network: { readonly name: string; readonly max: number } | undefined;
  /** The maximum number of self-service keys in total. */
  readonly keptMax: number;
  /** The keys that are deleted if there is no room for a new key. */
  readonly ended: EndedKeys;
  /**
   * The idempotency key of the request. If the address sends the same idempotency key again in the window, it gets the same key
   * record with a new secret.
   */
  readonly idempotencyKey: string | undefined;
}

export type Issued =
  | { readonly kind: "created" }
  /** The idempotency key was known. The stored key record now has the hash of the new secret. */
  | { readonly kind: "renewed"; readonly record: KeyRecord }
  /** A quota was exceeded. `max` is that quota. At `againAt`, the oldest key leaves the window. */
  | {
      readonly kind: "too_many";
      readonly of: "address" | "network";
      readonly max: number;
      readonly againAt: number;
    }
  /** There is no room for one more key. */
  | { readonly kind: "full" };

/**
 * Stores API keys. When a method resolves, its change survives the death of the process. All methods reject with StoreUnavailable
 * if the store is not available. Nothing has changed then, unless the error is OutcomeUnknown.
 */
export interface KeyStore {
  /**
   * Stores a new key in one step, unless the terms forbid it. A key that was created more than a window later than this one does
   * not count, because a clock that ran ahead created it. A revoked key counts in its window, but is never renewed.
   */
  create(record: KeyRecord, terms?: IssueTerms): Promise<Issued>;
  findByHash(hash: string): Promise<KeyRecord | undefined>;
  findById(id: string): Promise<KeyRecord | undefined>;
  /** Resolves with all keys, also the revoked ones, oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** Revokes a key. Resolves with false if there is no such key. A key that is already revoked stays unchanged. */
  revoke(id: string, at: number): Promise<boolean>;
  /** Stores the times at which keys were last used, by id. A time that is not later than the stored one changes nothing. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Deletes at most `max` keys that have ended, so that each call is short. Resolves with the number of deleted keys. */
  prune(ended: EndedKeys, max: number): Promise<number>;
  /**
   * Stores the check value of a pepper, unless there are valid keys that were hashed with another pepper. Resolves with the value
   * that is then stored.
   */
  keepPepperCheck(value: string): Promise<string>;
}

/** The engine time that was used in one window of a rate. */
export interface EngineTime {
  /** Plan and name of the rate. */
  readonly rate: string;
  /** Id of a key, or an address. */
  readonly subject: string;
  readonly engineMs: number;
  /** End of the window, in milliseconds since 1970. */
  readonly resetsAt: number;
}

/**
 * Stores the engine time of windows that are long enough to outlive a process. Methods reject with StoreUnavailable if the store
 * is not available, and have then changed nothing.
 */
export interface UsageStore {
  /**
   * Adds engine time to the stored window of the same rate and subject, or begins a new window if that one has ended at `now`. If
   * the two windows end at different times, the earlier end is kept, because a clock that ran ahead may have begun the window.
   */
  add(used: readonly EngineTime[], now: number): Promise<void>;
  /** Resolves with the windows that have not ended at `now`. */
  current(now: number): Promise<readonly EngineTime[]>;
  /** Deletes at most `max` windows that have ended at `now`. Resolves with the number of deleted windows. */
  prune(now: number, max: number): Promise<number>;
}

/** A window in which the use of a rate is counted. The window begins with the first use. */
export interface LimitWindow {
  /** Plan and name of the rate. */
  readonly rate: string;
  /** The subject of the caller that is counted. */
  readonly subject: string;
  readonly windowMs: number;
}

export interface QuotaWindow extends LimitWindow {
  readonly quota: number;
}

export interface WindowUse {
  readonly used: number;
  /** Milliseconds until the window ends, by the store's clock. If the window has not begun, this is its whole length. */
  readonly endsInMs: number;
}

export interface AdmissionRequest {
  readonly subject: string;
  /** The maximum number of searches at a time; undefined if there is no limit. */
  readonly concurrent: number | undefined;
  /** The expected duration of the search, in milliseconds. */
  readonly expectedMs: number;
  /** Windows of engine time. If one of them is used up, the request is rejected. */
  readonly engineTime: readonly QuotaWindow[];
  /** Windows of requests. An admitted request raises the use of each by `count`. */
  readonly requests: readonly QuotaWindow[];
  readonly count: number;
}

export type AdmissionAnswer =
  | { readonly kind: "admitted"; readonly place: TakenPlace; readonly requests: readonly WindowUse[] }
  /** The caller already has as many searches in flight as its plan allows. */
  | { readonly kind: "busy"; readonly running: readonly RunningSearch[] }
  | { readonly kind: "exhausted"; readonly engineTime: readonly WindowUse[] }
  | { readonly kind: "full"; readonly requests: readonly WindowUse[] };

/** A search in flight. Times are in milliseconds. */
export interface RunningSearch {
  readonly expectedMs: number;
  readonly elapsedMs: number;
}

/** The place that an admitted request takes. A plan limits the number of places, and so the searches at a time. */
export interface TakenPlace {
  /** Frees the place. The request continues without it. */
  free(): void;
  /**
   * Ends the request: frees its place and counts its engine time. Call this once.
   *
   * @param givesBack true to give the requests back to the windows that have not ended
   */
  leave(engineMs: number, givesBack: boolean): void;
}

/**
 * Counts the use of the service by callers, either in this process or for all nodes. If a node dies, its places become free
 * within seconds. Methods reject with StoreUnavailable if the store is not available.
 */
export interface LimitStore {
  /** False if the store is known to be unavailable. */
  readonly available: boolean;
  /**
   * Admits a request, or counts nothing, in one step. If the reply of the store is lost, the request may have been counted, and
   * its place expires.
   */
  enter(request: AdmissionRequest): Promise<AdmissionAnswer>;
  /**
   * Resolves when the subject may hold fewer than `max` places. Another call may take the free place first. Rejects with the
   * abort reason of `signal`.
   */
  placeFree(subject: string, max: number, signal: AbortSignal): Promise<void>;
  /** Adds refusals to a window. Resolves with the use of the window. */
  addRefusals(window: LimitWindow, count: number): Promise<WindowUse>;
  usesOf(windows: readonly LimitWindow[]): Promise<readonly WindowUse[]>;
}
