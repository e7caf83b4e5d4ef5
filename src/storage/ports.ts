/**
 * A cached value is immutable plain data, because a store may write it as JSON. Callers must not change a value that they get.
 */
export interface AnswerCache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
}

/** A store of answers that survives a restart. A failed read counts as a miss, and a failed write is lost. No method throws. */
export type AnswerStore<T> = AnswerCache<T> & Disposable;

/** The answers that all nodes share. No method rejects or waits for long. If the store is unavailable, each read is a miss. */
export interface SharedAnswers<T> {
  get(key: string): Promise<T | undefined>;
  /** Stores the value if there is enough memory. Returns before the value is written. */
  set(key: string, value: T): void;
}

/**
 * A node with a claim runs the search, and the other nodes wait for the answer. No method rejects or waits for long. If the
 * store is unavailable, each node gets a claim, and each node runs the search.
 */
export interface SearchClaims<T> {
  /** Resolves with a claim. Disposing of the claim ends the claim. */
  claim(search: string): Promise<SearchClaim<T>>;
}

type SearchClaim<T> = HeldClaim<T> | TakenClaim<T>;

/** This node has the claim, and must run the search. */
interface HeldClaim<T> extends Disposable {
  readonly kind: "held";
  /** Sends the answer to the nodes that wait for this claim. Call this before you dispose of the claim. */
  publish(answer: T): void;
}

interface TakenClaim<T> extends Disposable {
  readonly kind: "taken";
  /** Resolves with undefined if the other node's claim ends without an answer, or if `signal` is aborted. */
  answer(signal: AbortSignal): Promise<T | undefined>;
}

/** The store is unavailable for now: the disk is full, another process has locked the file, or the server is unreachable. */
export class StoreUnavailable extends Error {}

/** The reply to a write was lost. Nobody knows whether the store has executed the write. */
export class OutcomeUnknown extends StoreUnavailable {}

/** Callbacks for logging. A store calls `worked` or `failed` after each read and each write. */
export interface StoreWatch {
  worked(what: "read" | "write"): void;
  failed(what: "read" | "write", why: string): void;
}

export const unwatched: StoreWatch = { worked() {}, failed() {} };

/** The stored record of an API key. The record contains the hash of the key instead of the key. */
export interface KeyRecord {
  readonly id: string;
  /** The hash of the key in hexadecimal. No two keys have the same hash. */
  readonly hash: string;
  readonly name: string | undefined;
  readonly plan: string;
  /** In milliseconds since 1970, like all times in this record. */
  readonly createdAt: number;
  /** The address of the caller to whom a self-service key was issued. Undefined for a key that the operator created. */
  readonly issuedTo: string | undefined;
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
}

interface IssueQuota {
  readonly max: number;
  readonly windowMs: number;
}

export interface EndedKeys {
  /** A key that was revoked before this time may be deleted. */
  readonly revokedBefore: number;
  /** A self-service key may be deleted if its creation and its last use are before this time. */
  readonly unusedSince: number;
}

export interface IssueTerms {
  readonly quota: IssueQuota;
  /**
   * The network that contains the caller's address. A customer may own the whole network. `max` is the quota of the whole
   * network.
   */
  readonly network: { readonly name: string; readonly max: number } | undefined;
  readonly keptMax: number;
  /** Keys that may be deleted to store a new key. */
  readonly ended: EndedKeys;
  /** If the same address sends the same idempotency key again within the window, the same key record gets a new secret. */
  readonly idempotencyKey: string | undefined;
}

export type Issued =
  | { readonly kind: "created" }
  /** The idempotency key is known. The stored record now has the hash of the new secret. */
  | { readonly kind: "renewed"; readonly record: KeyRecord }
  /**
   * The quota `max` of the address or network is exceeded. A new key can be issued at `againAt`, in milliseconds since 1970.
   */
  | {
      readonly kind: "too_many";
      readonly of: "address" | "network";
      readonly max: number;
      readonly againAt: number;
    }
  | { readonly kind: "full" };

/**
 * A change survives a restart once its promise has resolved. After StoreUnavailable nothing has changed. After OutcomeUnknown
 * the change may have happened.
 */
export interface KeyStore {
  /**
   * Stores a new key atomically, if the terms allow the key.
   * - A revoked key still counts in the quota, but is never renewed.
   * - A key does not count if its time of creation is too far in the future. Such a time comes from a wrong clock.
   */
  create(record: KeyRecord, terms?: IssueTerms): Promise<Issued>;
  findByHash(hash: string): Promise<KeyRecord | undefined>;
  findById(id: string): Promise<KeyRecord | undefined>;
  /** Resolves with all keys, including revoked keys, oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** Resolves with false if the key does not exist. Does not change the time of an earlier revocation. */
  revoke(id: string, at: number): Promise<boolean>;
  /** Stores the times of last use by key id. A time has no effect if the stored time is later. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Deletes at most `max` ended keys, so that a call stays short. Resolves with the number of deleted keys. */
  prune(ended: EndedKeys, max: number): Promise<number>;
  /**
   * Stores a check value of the pepper. Keeps the old check value if a valid key was hashed with another pepper. Resolves with
   * the stored value.
   */
  keepPepperCheck(value: string): Promise<string>;
}

export interface EngineTime {
  /** The plan and the name of the rate, as one text. */
  readonly rate: string;
  /** The id of an API key, or an address. */
  readonly subject: string;
  readonly engineMs: number;
  /** The end of the window, in milliseconds since 1970. */
  readonly resetsAt: number;
}

/** Stores the use of engine time across restarts. After StoreUnavailable nothing has changed. */
export interface UsageStore {
  /**
   * Adds to the stored window, or begins a new window if the stored window has ended. If the ends differ, the earlier end is
   * stored, because a clock may have been fast.
   */
  add(used: readonly EngineTime[], now: number): Promise<void>;
  /** Resolves with the windows that end after `now`. */
  current(now: number): Promise<readonly EngineTime[]>;
  /** Deletes at most `max` windows that ended before `now`. Resolves with the number of deleted windows. */
  prune(now: number, max: number): Promise<number>;
}

/** A window begins with its first use. */
export interface LimitWindow {
  readonly rate: string;
  readonly subject: string;
  readonly windowMs: number;
}

export interface QuotaWindow extends LimitWindow {
  readonly quota: number;
}

export interface WindowUse {
  readonly used: number;
  /** Milliseconds until the window ends, by the store's clock. For a window without use, the full length of the window. */
  readonly endsInMs: number;
}

export interface AdmissionRequest {
  readonly subject: string;
  /** The maximum number of searches that the subject may have in flight. Undefined if there is no limit. */
  readonly concurrent: number | undefined;
  readonly expectedMs: number;
  /** The request is rejected if the use of one of these windows has reached its quota. */
  readonly engineTime: readonly QuotaWindow[];
  /** If the request is admitted, the use of each of these windows rises by `count`. */
  readonly requests: readonly QuotaWindow[];
  readonly count: number;
}

type AdmissionAnswer =
  | { readonly kind: "admitted"; readonly place: TakenPlace; readonly requests: readonly WindowUse[] }
  /** The subject has as many searches in flight as its plan allows. */
  | { readonly kind: "busy"; readonly running: readonly RunningSearch[] }
  | { readonly kind: "exhausted"; readonly engineTime: readonly WindowUse[] }
  | { readonly kind: "full"; readonly requests: readonly WindowUse[] };

export interface RunningSearch {
  readonly expectedMs: number;
  readonly elapsedMs: number;
}

/** An admitted search, which counts as in flight for its subject until `free` or `leave` is called. */
export interface TakenPlace {
  /** Ends the search, so that the subject may start another search. The request continues. */
  free(): void;
  /**
   * Ends the search, and adds the engine time. If `givesBack` is true, subtracts the requests from the windows that counted
   * these requests. Call this once.
   */
  leave(engineMs: number, givesBack: boolean): void;
}

/**
 * Counts the use of limits, either in this process or for all nodes. If a node dies, its searches stop counting within seconds.
 * Rejects with StoreUnavailable.
 */
export interface LimitStore {
  readonly available: boolean;
  /** Admits the request, or changes nothing. If the store's reply is lost, the request may count. */
  enter(request: AdmissionRequest): Promise<AdmissionAnswer>;
  /**
   * Resolves when the subject probably has fewer than `max` searches in flight. Another request may be admitted before this
   * request.
   */
  placeFree(subject: string, max: number, signal: AbortSignal): Promise<void>;
  addRefusals(window: LimitWindow, count: number): Promise<WindowUse>;
  usesOf(windows: readonly LimitWindow[]): Promise<readonly WindowUse[]>;
}
