import {
  beforeAbort,
  type EngineBuild,
  EngineFailure,
  type EngineInfo,
  type EngineSession,
  type EngineState,
  type OnProgress,
  type SearchDone,
  type SearchJob,
} from "../engine.ts";
import {
  callersOptionsFrom,
  createOptionState,
  type OptionState,
  type UciOption,
  valuesOfSearch,
} from "./options.ts";
import { parseLine, type UciLine } from "./parse-line.ts";
import { startSearch, type UciSearch } from "./search.ts";
import type { ProcessEnd, UciTransport } from "./transport.ts";
import { createDeadline, createFloodMeter, type Deadline, type WatchTimes } from "./watch.ts";

/**
 *     greeting ──readyok──▶ idle ──search──▶ searching ──bestmove──▶ cleaning
 *                            ▲                    ▲                    │   │
 *                            │                    └──────search────────┘   │
 *                            └───────────────────readyok───────────────────┘
 *
 *     every state ──the engine fails, its pipe ends, or the session is closed──▶ ended
 */
type SessionState =
  | { readonly kind: "greeting"; receive(line: UciLine): void; fail(failure: EngineFailure): void }
  | { readonly kind: "idle" }
  /** `isClean` is false until the `readyok` of the cleaning before this search. No line before it belongs to this search. */
  | { readonly kind: "searching"; readonly search: UciSearch; isClean: boolean }
  | { readonly kind: "cleaning"; readonly deadline: Deadline }
  | { readonly kind: "ended" };

/** An engine that speaks UCI. `createUciSession` starts one. */
class UciSession implements EngineSession {
  readonly build: EngineBuild;
  readonly exited: Promise<EngineFailure | undefined>;
  readonly #transport: UciTransport;
  readonly #times: WatchTimes;
  readonly #exit = Promise.withResolvers<EngineFailure | undefined>();
  readonly #flood = createFloodMeter();
  #state: SessionState = { kind: "greeting", receive() {}, fail() {} };
  /** Resolves when the session is idle or its engine is gone. */
  #free = Promise.withResolvers<void>();
  #info: EngineInfo = { name: "", author: "", options: [] };
  /** The options that searches set and cleaning resets. */
  #options: OptionState = createOptionState([]);

  constructor(build: EngineBuild, transport: UciTransport, times: WatchTimes) {
    this.build = build;
    this.#transport = transport;
    this.#times = times;
    this.exited = this.#exit.promise;
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

  get free(): Promise<unknown> {
    return this.alive ? this.#free.promise : this.exited;
  }

  memoryBytes(): number | undefined {
    return this.#transport.memoryBytes();
  }

  /** Reads the name and the options of the engine, and sets the operator's options. Call this once. */
  async greet(): Promise<void> {
    const { settings } = this.build;
    const options: UciOption[] = [];
    const named = { name: "", author: "" };
    const ready = Promise.withResolvers<void>();
    let awaited = "uciok";
    const waitForReady = (line: UciLine) => {
      if (line.kind === "readyok") {
        this.#becomeIdle();
        ready.resolve();
      }
    };
    const introduce = (line: UciLine) => {
      if (line.kind === "id") {
        named[line.field] = line.value;
      } else if (line.kind === "option") {
        options.push(line.option);
      } else if (line.kind === "uciok") {
        this.#info = { ...named, options: callersOptionsFrom(options) };
        this.#options = createOptionState(options);
        awaited = "readyok";
        this.#state = { kind: "greeting", receive: waitForReady, fail: ready.reject };
        const settingLines = createOptionState(options).set([
          // Hash after Threads, as Stockfish recommends.
          ["Threads", String(settings.threads)],
          ["Hash", String(settings.hashMb)],
          ["UCI_ShowWDL", "true"],
        ]);
        this.#transport.send(...settingLines, "isready");
      }
    };
    this.#state = { kind: "greeting", receive: introduce, fail: ready.reject };
    const { startMs } = this.#times;
    const deadline = createDeadline(startMs, () => {
      void this.#end(new EngineFailure("no_start", `no ${awaited} within ${startMs} ms`));
    });
    this.#transport.send("uci");
    try {
      await ready.promise;
    } finally {
      deadline.clear();
    }
  }

  async search(job: SearchJob, signal: AbortSignal, onProgress?: OnProgress): Promise<SearchDone> {
    while (this.#state.kind !== "idle" && this.#state.kind !== "cleaning") {
      if (this.#state.kind === "ended") {
        // The engine failed before this search began, so the search can be retried on another engine.
        const cause = await beforeAbort(this.exited, signal);
        throw new EngineFailure("no_start", "the engine was gone before the search began", { cause });
      }
      await beforeAbort(this.free, signal);
    }
    signal.throwIfAborted();
    const isClean = this.#state.kind === "idle";
    if (this.#state.kind === "cleaning") {
      // The search watches the engine from here. It waits in the engine's input, which saves a shallow search a fifth of its time.
      this.#state.deadline.clear();
    } else {
      this.#free = Promise.withResolvers();
    }
    this.#flood.reset();
    const search = startSearch(this.#transport, {
      job,
      optionLines: this.#options.set(valuesOfSearch(this.#info.options, job)),
      times: this.#times,
      onProgress,
      onEnd: () => this.#clean(),
      kill: (failure) => void this.#end(failure),
    });
    this.#state = { kind: "searching", search, isClean };
    const leave = () => search.leave(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await search.answer;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  cutShort(): void {
    if (this.#state.kind === "searching") {
      this.#state.search.cutShort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end(undefined);
  }

  #becomeIdle(): void {
    this.#state = { kind: "idle" };
    this.#free.resolve();
  }

  /** Resets the options and the hash table, so that nothing of a search affects the next one. */
  #clean(): void {
    const { unresponsiveMs } = this.#times;
    const deadline = createDeadline(unresponsiveMs, () => {
      void this.#end(
        new EngineFailure("unresponsive", `no readyok within ${unresponsiveMs} ms after a search`),
      );
    });
    this.#state = { kind: "cleaning", deadline };
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
      state.receive(line);
    } else if (state.kind === "searching" && state.isClean) {
      state.search.receive(line);
    } else if (line.kind === "bestmove") {
      // The next caller must not get this answer.
      void this.#end(new EngineFailure("protocol_error", "a bestmove without a search"));
    } else if (line.kind === "readyok" && state.kind === "searching") {
      state.isClean = true;
    } else if (line.kind === "readyok" && state.kind === "cleaning") {
      state.deadline.clear();
      this.#becomeIdle();
    }
  }

  /**
   * Kills the engine once, and rejects the greeting or the search in flight with the failure.
   *
   * @param cause the failure, or a promise of it; undefined if the session was closed
   */
  async #end(cause: EngineFailure | undefined | Promise<EngineFailure>): Promise<void> {
    const state = this.#state;
    if (state.kind !== "ended") {
      this.#state = { kind: "ended" };
      const failure = await cause;
      const reason = failure ?? new EngineFailure("exited", "the engine was closed");
      if (state.kind === "greeting") {
        state.fail(reason);
      } else if (state.kind === "searching") {
        // The engine was still being cleaned, so this search did not break it and can be retried on another engine.
        state.search.fail(
          state.isClean ? reason : new EngineFailure("no_start", reason.message, { cause: reason }),
        );
      } else if (state.kind === "cleaning") {
        state.deadline.clear();
      }
      await this.#transport.kill();
      this.#exit.resolve(failure);
      this.#free.resolve();
    }
    await this.exited;
  }
}

/** Longest time from the end of the pipe to the end of the process, in milliseconds. */
const exitDelayMs = 200;

/** Returns the reason for the end of the pipe. The system reports the end of the process a moment later. */
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
 * Greets an engine, and waits until it is ready.
 *
 * @throws EngineFailure of the kind `no_start`, or the reason of `signal`; the engine is gone then
 */
export async function createUciSession(
  build: EngineBuild,
  transport: UciTransport,
  times: WatchTimes,
  signal: AbortSignal,
): Promise<EngineSession> {
  const session = new UciSession(build, transport, times);
  const abandon = () => void session[Symbol.asyncDispose]();
  signal.addEventListener("abort", abandon, { once: true });
  try {
    signal.throwIfAborted();
    await session.greet();
    signal.throwIfAborted();
    return session;
  } catch (error) {
    await session[Symbol.asyncDispose]();
    signal.throwIfAborted();
    throw error instanceof EngineFailure
      ? new EngineFailure("no_start", error.message, { cause: error })
      : error;
  } finally {
    signal.removeEventListener("abort", abandon);
  }
}
