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

export type Issued =
  | { readonly kind: "created" }
  /** `againAt` is when the oldest key of the window leaves it. */
  | { readonly kind: "too_many"; readonly againAt: number };

/**
 * Keeps API keys. What a method has resolved survives the death of the process. All methods reject with
 * StoreUnavailable where the store cannot be asked, and have changed nothing then.
 */
export interface KeyStore {
  /**
   * Keeps a new key, unless its address has been issued too many: both in one step, so that nobody slips through. Keys
   * that are more than the window ahead of this one were made by a clock that ran ahead, and do not count.
   */
  create(record: KeyRecord, quota?: IssueQuota): Promise<Issued>;
  findByHash(hash: string): Promise<KeyRecord | undefined>;
  findById(id: string): Promise<KeyRecord | undefined>;
  /** All keys, revoked ones too, oldest first. */
  list(): Promise<readonly KeyRecord[]>;
  /** False where there is no such key. One that is revoked stays as it is. */
  revoke(id: string, at: number): Promise<boolean>;
  /** Notes when keys were last used, by id. A time that is not later than the noted one changes nothing. */
  touch(uses: ReadonlyMap<string, number>): Promise<void>;
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
}
