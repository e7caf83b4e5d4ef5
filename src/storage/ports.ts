/** Keeps answers that never change. Values are plain data: a store may write them as JSON, and callers must not change them. */
export interface AnswerCache<T> {
  get(key: string): T | undefined;
  /** Keeps a value while there is room. */
  set(key: string, value: T): void;
}

/**
 * Keeps answers beyond the life of the process, and shares them with other processes. Never throws: a failed read is a miss, and a failed
 * write is lost, as is a write in the moment before the process is killed.
 */
export type AnswerStore<T> = AnswerCache<T> & Disposable;

/** Answers that all nodes share. Nothing here rejects or waits long: if the store is not available, every answer is a miss. */
export interface SharedAnswers<T> {
  get(key: string): Promise<T | undefined>;
  /** Keeps a value while there is room. Nobody waits for it. */
  set(key: string, value: T): void;
}

/**
 * Claims on searches, so that one node searches for all nodes that get the same request at the same time. Nothing here rejects or waits
 * long: if the store is not available, every node holds its own claim.
 */
export interface SearchClaims<T> {
  /** Claims a search for this node until the claim is disposed of, unless another node has claimed it. */
  claim(search: string): Promise<SearchClaim<T>>;
}

export type SearchClaim<T> = HeldClaim<T> | TakenClaim<T>;

/** This node searches. */
interface HeldClaim<T> extends Disposable {
  readonly kind: "held";
  /** Gives the answer to the nodes that wait for this claim, and to no others. To be called before the claim is disposed of. */
  publish(answer: T): void;
}

/** Another node searches. */
interface TakenClaim<T> extends Disposable {
  readonly kind: "taken";
  /** Resolves with the answer of the other node; with undefined once its claim has ended without one, or `signal` is aborted. */
  answer(signal: AbortSignal): Promise<T | undefined>;
}

/** A store is not available at the moment: its disk is full, another process has locked it, or it cannot be reached. */
export class StoreUnavailable extends Error {}

/** A write was sent to a store, and its answer was lost: the store may have carried it out. */
export class OutcomeUnknown extends StoreUnavailable {}

/** Reports how each read and write of a store went, for the log. */
export interface StoreWatch {
  worked(what: "read" | "write"): void;
  failed(what: "read" | "write", why: string): void;
}

export const unwatched: StoreWatch = { worked() {}, failed() {} };

/** An API key as it is stored: enough to recognize the key, not enough to use it. */
export interface KeyRecord {
  /** Public id. */
  readonly id: string;
  /** The hash of the key, in hexadecimal. Unique. */
  readonly hash: string;
  readonly name: string | undefined;
  /** Id of its plan. */
  readonly plan: string;
  /** Milliseconds since 1970, as all times here. */
  readonly createdAt: number;
  /** The address of the caller that got a self-service key. Undefined for a key of the operator. */
  readonly issuedTo: string | undefined;
  readonly lastUsedAt: number | undefined;
  readonly revokedAt: number | undefined;
}

/** The most self-service keys of an address in a window. */
export interface IssueQuota {
  readonly max: number;
  readonly windowMs: number;
}

/** Keys that may be deleted. */
export interface EndedKeys {
  /** Revoked before this time. */
  readonly revokedBefore: number;
  /** Self-service keys that were neither made nor used since this time. */
  readonly unusedSince: number;
}

/** The terms of a self-service key. */
export interface IssueTerms {
  readonly quota: IssueQuota;
  /** A network that may belong to one customer, and the most keys of all its addresses in the same window. */
  readonly network: { readonly name: string; readonly max: number } | undefined;
  /** The most self-service keys in all. */
  readonly keptMax: number;
  /** Keys that are deleted if there is no room for a new one. */
  readonly ended: EndedKeys;
  /** If the address sends the same one again in the window, it gets the same key with a new secret. */
  readonly idempotencyKey: string | undefined;
}

export type Issued =
  | { readonly kind: "created" }
  /** The idempotency key was known: the stored key has the hash of the new one now. */
  | { readonly kind: "renewed"; readonly record: KeyRecord }
  /** `max` is the quota; at `againAt` the oldest key of the window leaves it. */
  | {
      readonly kind: "too_many";
      readonly of: "address" | "network";
      readonly max: number;
      readonly againAt: number;
    }
  /** There is no room for one more. */
  | { readonly kind: "full" };

/**
 * Keeps API keys. A change survives the death of the process once its method has resolved. All methods reject with StoreUnavailable if the
 * store is not available. Then nothing has changed, unless the error is OutcomeUnknown.
 */
export interface KeyStore {
  /**
   * Keeps a new key, unless the terms forbid it, in one step. Keys that are more than the window ahead of this one were made by a clock that
   * ran ahead, and do not count. A revoked key counts in its window, but is never renewed.
   */
  create(record: KeyRecord, terms?: IssueTerms): Promise<Issued>;
  findByHash(hash: string): Promise<KeyRecord | undefined>;
  findById(id: string): Promise<KeyRecord | undefined>;
  /** All keys, revoked ones too, oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** Resolves with false if there is no such key. A revoked key stays as it is. */
  revoke(id: string, at: number): Promise<boolean>;
  /** Stores the times at which keys were last used, by id. A time that is not later than the stored one changes nothing. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
  /** Deletes at most `max` keys that have ended, so that the step is short. Resolves with their number. */
  prune(ended: EndedKeys, max: number): Promise<number>;
  /**
   * Keeps the check value of a pepper, unless there are keys, not revoked, that were hashed with another pepper. Resolves with the value
   * that is kept.
   */
  keepPepperCheck(value: string): Promise<string>;
}

/** Engine time used in one window of a rate. */
export interface EngineTime {
  /** Plan and name of the rate. */
  readonly rate: string;
  /** The id of a key, or an address. */
  readonly subject: string;
  readonly engineMs: number;
  /** When the window ends. */
  readonly resetsAt: number;
}

/**
 * Keeps the engine time of windows that are long enough to outlive a process. Rejects with StoreUnavailable if the store is not available,
 * and has changed nothing then.
 */
export interface UsageStore {
  /**
   * Adds to the stored window of the same rate and subject, or begins a new one if that has ended at `now`. The sooner one of two ends
   * holds: a clock that ran ahead may have begun the window.
   */
  add(used: readonly EngineTime[], now: number): Promise<void>;
  /** The windows that have not ended at `now`. */
  current(now: number): Promise<readonly EngineTime[]>;
  /** Deletes at most `max` windows that have ended at `now`. Resolves with their number. */
  prune(now: number, max: number): Promise<number>;
}

/** A window in which the use of a rate is counted. It begins with its first use. */
export interface LimitWindow {
  /** Plan and name of the rate. */
  readonly rate: string;
  /** The caller that is counted. */
  readonly subject: string;
  readonly windowMs: number;
}

export interface QuotaWindow extends LimitWindow {
  readonly quota: number;
}

export interface WindowUse {
  readonly used: number;
  /** Milliseconds until the window ends, by the store's clock; its whole length if it has not begun. */
  readonly endsInMs: number;
}

export interface AdmissionRequest {
  readonly subject: string;
  /** Searches at a time; undefined for any number. */
  readonly concurrent: number | undefined;
  /** How long the search is expected to take. */
  readonly expectedMs: number;
  /** Windows of engine time. If one is used up, the request is refused. */
  readonly engineTime: readonly QuotaWindow[];
  /** Windows of requests. The request takes `count` of each. */
  readonly requests: readonly QuotaWindow[];
  readonly count: number;
}

export type AdmissionAnswer =
  | { readonly kind: "admitted"; readonly place: TakenPlace; readonly requests: readonly WindowUse[] }
  /** The caller has the most searches under way that its plan allows. */
  | { readonly kind: "busy"; readonly running: readonly RunningSearch[] }
  | { readonly kind: "exhausted"; readonly engineTime: readonly WindowUse[] }
  | { readonly kind: "full"; readonly requests: readonly WindowUse[] };

/** Times are in milliseconds. */
export interface RunningSearch {
  readonly expectedMs: number;
  readonly elapsedMs: number;
}

/** The place of an admitted request among the searches at a time. */
export interface TakenPlace {
  /** Frees the place. The request goes on. */
  free(): void;
  /**
   * The request has ended: frees the place and counts the engine time. To be called once.
   *
   * @param givesBack true to give the requests back to the windows that have not ended
   */
  leave(engineMs: number, givesBack: boolean): void;
}

/**
 * Counts what callers use: in this process, or for all nodes. The places of a node that dies are free within seconds. Methods reject
 * with StoreUnavailable if the store is not available.
 */
export interface LimitStore {
  /** False if the store is known to be unavailable. */
  readonly available: boolean;
  /** Admits a request, or takes nothing: in one step. If the answer of the store was lost, the request may count, and its place expires. */
  enter(request: AdmissionRequest): Promise<AdmissionAnswer>;
  /** Resolves when the subject may have fewer than `max` places, which another call may take first. Rejects with the reason of `signal`. */
  placeFree(subject: string, max: number, signal: AbortSignal): Promise<void>;
  /** Adds refusals to a window. Resolves with its use. */
  addRefusals(window: LimitWindow, count: number): Promise<WindowUse>;
  usesOf(windows: readonly LimitWindow[]): Promise<readonly WindowUse[]>;
}
