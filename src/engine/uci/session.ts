import {
  beforeAbort,
  EngineFailure,
  type EngineInfo,
  type EngineSession,
  type EngineSettings,
  type EngineState,
  type OnProgress,
  type OptionTexts,
  type SearchDone,
  type SearchJob,
} from "../engine.ts";
import { type EngineProfile, profileFromName } from "../profiles.ts";
import {
  callersOptionsFrom,
  complaintsAbout,
  createOptionState,
  linesMaxFrom,
  type OptionState,
  type UciOption,
  valueInside,
  valuesOfSearch,
  withDefaults,
} from "./options.ts";
import { parseLine, type UciLine } from "./parse-line.ts";
import { startSearch, type UciSearch } from "./search.ts";
import type { ProcessEnd, UciTransport } from "./transport.ts";
import { createDeadline, createFloodMeter, type Deadline, type WatchTimes } from "./watch.ts";

/**
 * The states of a session:
 *
 *     greeting ──readyok──▶ idle ──search──▶ searching ──bestmove──▶ cleaning
 *                            ▲                                           │
 *                            └──────────────────readyok──────────────────┘
 *
 *     every state ──the engine fails, its pipe ends, or the session is closed──▶ ended
 */
type SessionState =
  /** `stage` is the line that ends the stage of the start: `bestmove` if the start includes a search. */
  | {
      readonly kind: "greeting";
      readonly options: UciOption[];
      stage: "uciok" | "readyok" | "bestmove";
      hasSearched: boolean;
    }
  | { readonly kind: "idle" }
  | { readonly kind: "searching"; readonly search: UciSearch }
  /** `over` resolves when the engine is clean or has ended. `readyoks` is the number of `readyok` until then. */
  | {
      readonly kind: "cleaning";
      readonly deadline: Deadline;
      readonly over: PromiseWithResolvers<void>;
      readyoks: number;
    }
  | { readonly kind: "ended" };

/** The longest name and the longest list of authors that are kept, in characters. An engine may print any text. */
const nameMaxChars = 200;
/** Lc0 has about 70 options. */
const optionsMax = 500;

class UciSession implements EngineSession {
  readonly exited: Promise<EngineFailure | undefined>;
  readonly #settings: EngineSettings;
  /** The values that replace the defaults of the engine. */
  readonly #defaults: OptionTexts;
  readonly #transport: UciTransport;
  readonly #times: WatchTimes;
  readonly #ready = Promise.withResolvers<void>();
  readonly #exit = Promise.withResolvers<EngineFailure | undefined>();
  readonly #flood = createFloodMeter();
  #state: SessionState = { kind: "greeting", options: [], stage: "uciok", hasSearched: false };
  #info: EngineInfo = { name: "", author: "", options: [], linesMax: 1 };
  #profile: EngineProfile = profileFromName("");
  /** The cleaning after a search resets these options. */
  #options: OptionState = createOptionState([]);

  constructor(settings: EngineSettings, transport: UciTransport, times: WatchTimes, defaults: OptionTexts) {
    this.#settings = settings;
    this.#defaults = defaults;
    this.#transport = transport;
    this.#times = times;
    this.exited = this.#exit.promise;
    // Ignore the rejection here, because the session may be closed before a caller waits for the greeting.
    this.#ready.promise.catch(() => {});
    void this.#read();
  }

  get info(): EngineInfo {
    return this.#info;
  }

  get state(): EngineState {
    return this.#state.kind;
  }

  get alive(): boolean {
    return this.#state.kind !== "ended";
  }

  memoryBytes(): number | undefined {
    return this.#transport.memoryBytes();
  }

  async greet(): Promise<void> {
    const { startMs, startMsPerHashMb } = this.#times;
    const limitMs = startMs + startMsPerHashMb * this.#settings.hashMb;
    const deadline = createDeadline(limitMs, () => {
      void this.#end(new EngineFailure("no_start", `not ready within ${limitMs} ms`));
    });
    this.#transport.send("uci");
    try {
      await this.#ready.promise;
    } finally {
      deadline.clear();
    }
  }

  async ready(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#state.kind === "cleaning") {
      await beforeAbort(this.#state.over.promise, signal);
    }
    if (this.#state.kind === "ended") {
      // Report `no_start`, so that the search is retried on another engine.
      const cause = await this.exited;
      const why = cause === undefined ? "" : `: ${cause.message}`;
      throw new EngineFailure("no_start", `the engine was gone before the search began${why}`, { cause });
    }
  }

  async search(job: SearchJob, signal: AbortSignal, onProgress?: OnProgress): Promise<SearchDone> {
    while (this.#state.kind === "cleaning" || this.#state.kind === "ended") {
      await this.ready(signal);
    }
    signal.throwIfAborted();
    if (this.#state.kind !== "idle") {
      throw new Error(`a search on an engine that is ${this.#state.kind}`);
    }
    this.#flood.reset();
    const { options, linesMax } = this.#info;
    const possible = { ...job, multipv: Math.min(job.multipv, linesMax) };
    const search = startSearch(this.#transport, {
      job: possible,
      profile: this.#profile,
      optionLines: this.#options.set(valuesOfSearch(options, possible)),
      times: this.#times,
      signal,
      onProgress,
      onEnd: (readyoks) => this.#clean(readyoks),
      kill: (failure) => void this.#end(failure),
    });
    this.#state = { kind: "searching", search };
    return search.answer;
  }

  cutShort(): void {
    if (this.#state.kind === "searching") {
      this.#state.search.cutShort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end(undefined);
  }

  #receiveGreeting(greeting: Extract<SessionState, { kind: "greeting" }>, line: UciLine): void {
    if (line.kind === "id") {
      this.#info = { ...this.#info, [line.field]: line.value.slice(0, nameMaxChars).toWellFormed() };
    } else if (line.kind === "option" && greeting.options.length < optionsMax) {
      greeting.options.push(line.option);
    } else if (line.kind === "uciok" && greeting.stage === "uciok") {
      this.#introduce(greeting);
    } else if (line.kind === "readyok" && greeting.stage === "readyok") {
      if (this.#profile.firstSearchIsSlow && !greeting.hasSearched) {
        greeting.stage = "bestmove";
        this.#transport.send("position startpos", "go nodes 1");
      } else {
        this.#state = { kind: "idle" };
        this.#ready.resolve();
      }
    } else if (line.kind === "bestmove" && greeting.stage === "bestmove") {
      greeting.stage = "readyok";
      greeting.hasSearched = true;
      this.#transport.send("ucinewgame", "isready");
    }
  }

  #introduce(greeting: Extract<SessionState, { kind: "greeting" }>): void {
    const complaints = complaintsAbout(this.#defaults, greeting.options);
    if (complaints.length > 0) {
      void this.#end(new EngineFailure("no_start", complaints.join(" ")));
      return;
    }
    greeting.stage = "readyok";
    this.#profile = profileFromName(this.#info.name);
    const declared = withDefaults(greeting.options, this.#defaults);
    this.#info = {
      ...this.#info,
      options: callersOptionsFrom(declared, this.#profile.callersOptions),
      linesMax: linesMaxFrom(declared),
    };
    this.#options = createOptionState(declared);
    const { threads, hashMb } = this.#settings;
    const settingLines = createOptionState(greeting.options).set([
      // Set Hash after Threads, as Stockfish recommends.
      ["Threads", valueInside(greeting.options, "Threads", threads)],
      ["Hash", valueInside(greeting.options, "Hash", hashMb)],
      ["UCI_ShowWDL", "true"],
      // A move from an opening book has no score.
      ["OwnBook", "false"],
      ...this.#defaults,
    ]);
    this.#transport.send(...settingLines, "isready");
  }

  /**
   * Resets the options and the hash table, so that a search cannot affect the next search. First, the engine may print
   * `readyoks` answers to earlier `isready`.
   */
  #clean(readyoks: number): void {
    const { cleanMs } = this.#times;
    const deadline = createDeadline(cleanMs, () => {
      void this.#end(new EngineFailure("unresponsive", `no readyok within ${cleanMs} ms after a search`));
    });
    this.#state = { kind: "cleaning", deadline, over: Promise.withResolvers(), readyoks: readyoks + 1 };
    this.#transport.send(...this.#options.reset(), "ucinewgame", "isready");
  }

  async #read(): Promise<void> {
    try {
      await this.#transport.read((line) => this.#receive(line));
      await this.#end(failureOfExit(this.#transport));
    } catch (cause) {
      await this.#end(new EngineFailure("exited", `the engine's pipe broke: ${cause}`, { cause }));
    }
  }

  #receive(text: string): void {
    const state = this.#state;
    if (state.kind === "ended") {
      return;
    }
    if (this.#flood.floods(text)) {
      void this.#end(new EngineFailure("flooded", "the engine prints more than the output limit"));
      return;
    }
    const line = parseLine(text);
    if (state.kind === "greeting") {
      this.#receiveGreeting(state, line);
    } else if (state.kind === "searching") {
      state.search.receive(line);
    } else if (line.kind === "bestmove") {
      // End the engine, because the next search must not receive this answer.
      void this.#end(new EngineFailure("protocol_error", "a bestmove without a search"));
    } else if (line.kind === "readyok" && state.kind === "cleaning" && --state.readyoks === 0) {
      state.deadline.clear();
      this.#state = { kind: "idle" };
      state.over.resolve();
    }
  }

  /** Kills the engine, and rejects the greeting or the search with `cause`. If the session was closed, `cause` is undefined. */
  async #end(cause: EngineFailure | undefined | Promise<EngineFailure>): Promise<void> {
    const state = this.#state;
    if (state.kind !== "ended") {
      this.#state = { kind: "ended" };
      const failure = await cause;
      const reason =
        failure ?? new EngineFailure("exited", "the engine was closed", { blamesPosition: false });
      if (state.kind === "greeting") {
        this.#ready.reject(reason);
      } else if (state.kind === "searching") {
        state.search.fail(reason);
      } else if (state.kind === "cleaning") {
        state.deadline.clear();
        state.over.resolve();
      }
      await this.#transport.kill();
      this.#exit.resolve(failure);
    }
    await this.exited;
  }
}

const exitDelayMs = 200;

/** Waits briefly, because the system reports the end of a process after the end of its pipe. */
async function failureOfExit({ ended }: UciTransport): Promise<EngineFailure> {
  const unknown = Promise.withResolvers<ProcessEnd>();
  const deadline = createDeadline(exitDelayMs, () => unknown.resolve("itself"));
  const end = await Promise.race([ended, unknown.promise]);
  deadline.clear();
  return end === "outside"
    ? new EngineFailure("killed", "the engine was killed from outside")
    : new EngineFailure("exited", "the engine closed its pipe");
}

/**
 * Waits until the engine is ready. If this fails, kills the engine and throws `no_start` or the reason of `signal`. `defaults`
 * are values of options that replace the defaults of the engine. An engine without one of these options fails.
 */
export async function createUciSession(
  settings: EngineSettings,
  transport: UciTransport,
  times: WatchTimes,
  signal: AbortSignal,
  defaults: OptionTexts = new Map(),
): Promise<EngineSession> {
  const session = new UciSession(settings, transport, times, defaults);
  try {
    signal.throwIfAborted();
    await beforeAbort(session.greet(), signal);
    signal.throwIfAborted();
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw error instanceof EngineFailure
      ? new EngineFailure("no_start", error.message, { cause: error })
      : error;
  }
}
