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

/** A store cannot be asked at the moment: its disk is full, somebody has it locked, it is not there. */
export class StoreUnavailable extends Error {}

/** A store was asked to write, and has not answered: it may have been done, or not. */
export class OutcomeUnknown extends StoreUnavailable {}

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
 * StoreUnavailable where the store cannot be asked, and have changed nothing then, unless it is OutcomeUnknown.
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
  /**
   * Keeps the check value of a pepper, unless there are keys, not revoked, that were hashed with the pepper of another
   * value. Resolves with the value that is kept.
   */
  keepPepperCheck(value: string): Promise<string>;
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
  /** As many searches as allowed are under way. */
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
