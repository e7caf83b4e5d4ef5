/** A cached value is plain data, because a store may write the value as JSON. Callers must not change the value. */
export interface AnswerCache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T): void;
}

/** A store of answers that survives a restart. A failed read counts as a miss, and a failed write is lost. No method throws. */
export type AnswerStore<T> = AnswerCache<T> & Disposable;

/** The answers that all nodes share. No method rejects or waits for long. If the store is unavailable, each read is a miss. */
export interface SharedAnswers<T> {
  get(key: string): Promise<T | undefined>;
  /** Returns before the value is written. Drops the value if there is not enough memory. */
  set(key: string, value: T): void;
}

/**
 * A node with a claim runs the search, and the other nodes wait for the answer. No method rejects or waits for long, except while
 * another node searches. If the store is unavailable, each node gets a claim.
 */
export interface SearchClaims<T> {
  /** Call this when a request arrives: of the published answers, only later answers are answers to this request. */
  watch(search: string): Promise<WatchedSearch<T>>;
}

export interface WatchedSearch<T> {
  /** True if another node had the claim, or had published an answer, when this object last looked. */
  readonly isTaken: boolean;
  /** Resolves when the search is taken. Rejects with the abort reason of `signal`. */
  taken(signal: AbortSignal): Promise<void>;
  /** Resolves with undefined if the claim of the other node ends without an answer, or if `signal` aborts. */
  answer(signal: AbortSignal): Promise<T | undefined>;
  /** Call this only when the search can start at once, because other nodes then wait. Undefined if the search is taken. */
  claim(): Promise<SearchClaim<T> | undefined>;
}

/** This node has the claim, and must run the search. Disposing of the claim ends the claim. */
export interface SearchClaim<T> extends Disposable {
  /** Sends the answer to the nodes that watch the search. Call this before you dispose of the claim. */
  publish(answer: T): void;
}

/** For example, the disk is full, another process has locked the file, or the server is unreachable. */
export class StoreUnavailable extends Error {}

/** The reply to a write was lost. Nobody knows whether the store has executed the write. */
export class OutcomeUnknown extends StoreUnavailable {}

/** A store calls `worked` or `failed` after each read and each write. */
export interface StoreWatch {
  worked(what: "read" | "write"): void;
  failed(what: "read" | "write", why: string): void;
}

export const unwatched: StoreWatch = { worked() {}, failed() {} };

export interface KeyRecord {
  readonly id: string;
  /** In hexadecimal. No two keys have the same hash. */
  readonly hash: string;
  readonly name: string | undefined;
  readonly plan: string;
  /** In milliseconds since 1970, like all times in this record. */
  readonly createdAt: number;
  /** The address of the caller that created the key. Undefined if the operator created the key. */
  readonly issuedTo: string | undefined;
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
  /** Set by the operator. Undefined if the operator has set no end. */
  readonly expiresAt: number | undefined;
  /** The id of the first key of the account, if this key replaced another key. All keys of an account share their limits. */
  readonly account: string | undefined;
  /** The id of the key that replaced this key. A key is replaced only once. */
  readonly replacedBy: string | undefined;
}

/** A field that is undefined stays unchanged. Null removes the value. */
export interface KeyChange {
  readonly name?: string | null | undefined;
  readonly plan?: string | undefined;
  readonly expiresAt?: number | null | undefined;
  /** The key ends at this time, or at its own end if that is earlier. */
  readonly endsBy?: number | undefined;
  readonly replacedBy?: string | undefined;
}

/** How a key ends that was replaced: at once, or later. */
type KeyEnd = { readonly revokedAt: number } | { readonly expiresAt: number };

export interface ChangedKey {
  readonly before: KeyRecord;
  readonly after: KeyRecord;
}

interface IssueQuota {
  readonly max: number;
  readonly windowMs: number;
}

export interface EndedKeys {
  /** A key may be deleted if it was revoked, or its `expiresAt` passed, before this time. */
  readonly endedBefore: number;
  /** A self-service key may be deleted if its creation and its last use are before this time. */
  readonly unusedSince: number;
}

export interface IssueTerms {
  readonly quota: IssueQuota;
  /** The network that contains the caller's address. `max` is the quota of all addresses in the network together. */
  readonly network: { readonly name: string; readonly max: number } | undefined;
  readonly keptMax: number;
  /** If the store is full, these keys may be deleted. */
  readonly ended: EndedKeys;
  /** If an address repeats its idempotency key within the window, its record gets a new secret. No second record is created. */
  readonly idempotencyKey: string | undefined;
}

export type Issued =
  | { readonly kind: "created" }
  /** The idempotency key is known. The stored record now has the hash of the new secret. */
  | { readonly kind: "renewed"; readonly record: KeyRecord }
  /** A new key can be issued at `againAt`, in milliseconds since 1970. */
  | {
      readonly kind: "too_many";
      readonly of: "address" | "network";
      readonly max: number;
      readonly againAt: number;
    }
  | { readonly kind: "full" };

/**
 * If a method resolves, its change survives a restart. After StoreUnavailable, nothing has changed. After OutcomeUnknown, the
 * change may have been made.
 */
export interface KeyStore {
  /**
   * A revoked key still counts in the quota, but is never renewed. A key with a time of creation in the far future does not
   * count in the quota, because the time comes from a wrong clock.
   */
  create(record: KeyRecord, terms?: IssueTerms): Promise<Issued>;
  /** Creates all keys, or none. */
  createAll(records: readonly KeyRecord[]): Promise<void>;
  findByHash(hash: string): Promise<KeyRecord | undefined>;
  findById(id: string): Promise<KeyRecord | undefined>;
  /** Includes revoked keys. The oldest key is first. */
  list(): Promise<readonly KeyRecord[]>;
  /** Resolves with false if the key does not exist. Does not change the time of an earlier revocation. */
  revoke(id: string, at: number): Promise<boolean>;
  /** Resolves with undefined, and changes nothing, if the key does not exist or is revoked. */
  update(id: string, change: KeyChange): Promise<ChangedKey | undefined>;
  /**
   * Stores `next`, and ends the key `earlier`. Changes nothing and resolves with false if the key does not exist, was replaced
   * or revoked, or has another name, plan or end than `earlier`. After OutcomeUnknown, the same call may be repeated: it resolves
   * with true if `next` has already replaced the key.
   */
  replace(earlier: KeyRecord, next: KeyRecord, end: KeyEnd): Promise<boolean>;
  /** `uses` maps the id of a key to the time of its last use. A time before the stored time is ignored. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Deletes at most `max` ended keys. Resolves with the number of deleted keys. */
  prune(ended: EndedKeys, max: number): Promise<number>;
  /** Resolves with the number of keys of each plan, without revoked keys. */
  countByPlan(): Promise<ReadonlyMap<string, number>>;
  /** Stores `value` if no valid key was hashed with another pepper. Resolves with the stored value. */
  keepPepperCheck(value: string): Promise<string>;
  /** Resolves with undefined if any pepper may be used, because there is no valid key. Writes nothing. */
  pepperCheck(): Promise<string | undefined>;
}

export interface EngineTime {
  readonly rate: string;
  /** The id of an API key, or an address. */
  readonly subject: string;
  readonly engineMs: number;
  /** The end of the window, in milliseconds since 1970. */
  readonly resetsAt: number;
}

/** Keeps the used engine time across restarts. After StoreUnavailable nothing has changed. */
export interface UsageStore {
  /** If the stored window and `used` have different ends, keeps the earlier end, because the later end may come from a fast clock. */
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
  /** Milliseconds until the window ends, by the store's clock. The full length of the window if the window is unused. */
  readonly endsInMs: number;
}

export interface EnterRequest {
  readonly subject: string;
  /** The maximum number of searches in flight. Undefined if there is no limit. */
  readonly concurrent: number | undefined;
  readonly expectedMs: number;
  /** The request is rejected if one of these windows has reached its quota. */
  readonly engineTime: readonly QuotaWindow[];
  /** If the request enters, the use of each of these windows rises by `count`. */
  readonly requests: readonly QuotaWindow[];
  readonly count: number;
}

/** Called at once when the place is taken: if a later step fails, the caller never gets the answer, but must leave the place. */
export type OnPlace = (place: SearchPlace) => void;

export type EnterAnswer =
  | (EnterUses & { readonly kind: "entered"; readonly place: SearchPlace })
  | { readonly kind: "busy"; readonly running: readonly RunningSearch[] }
  /** A window of engine time has reached its quota. */
  | (EnterUses & { readonly kind: "exhausted" })
  /** A window of requests has no room for this request. */
  | (EnterUses & { readonly kind: "full" });

/** The uses of the windows of an {@link EnterRequest}, in the same order. */
interface EnterUses {
  readonly engineTime: readonly WindowUse[];
  readonly requests: readonly WindowUse[];
}

export interface RunningSearch {
  readonly expectedMs: number;
  readonly elapsedMs: number;
}

/** A search that counts as in flight for its subject until `free` or `leave` is called. */
export interface SearchPlace {
  /** Ends the search, so that the subject may start another search. The request continues. */
  free(): void;
  /** Call this once. If `givesBack` is true, the requests no longer count in their windows. */
  leave(engineMs: number, givesBack: boolean): void;
}

/**
 * Counts searches, requests and engine time, for this process or for all nodes. If a node dies, its searches are removed after
 * a few seconds. Rejects with StoreUnavailable.
 */
export interface LimitStore {
  readonly available: boolean;
  /**
   * Counts the request and its search, or changes nothing. If the store's reply is lost, a rejected request may have been
   * counted. With `waiting`, the answer is never `busy`: the request waits until the subject may start another search, and
   * rejects with the abort reason of `waiting`. Waiting requests enter in the order of their arrival, before all other
   * requests of the subject.
   */
  enter(request: EnterRequest, waiting?: AbortSignal, onPlace?: OnPlace): Promise<EnterAnswer>;
  addRefusals(window: LimitWindow, count: number): Promise<WindowUse>;
  usesOf(windows: readonly LimitWindow[]): Promise<readonly WindowUse[]>;
}
