import { assertMayFollow } from "../../errors/errors.ts";
import {
  type Audience,
  beforeAbort,
  type EngineBuild,
  EngineFailure,
  type EngineInfo,
  type EngineSession,
  type EngineState,
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
import {
  blamed,
  closedByUs,
  engineStateOf,
  failureOfExit,
  isLeft,
  type SessionState,
  searchOf,
  sessionTransitions,
} from "./session-state.ts";
import type { UciTransport } from "./transport.ts";
import { createDeadline, createFloodMeter, type Deadline, type WatchTimes } from "./watch.ts";

/** An engine that speaks UCI, in the states of `session-state.ts`. `createUciSession` starts one. */
export class UciSession implements EngineSession {
  readonly build: EngineBuild;
  readonly exited: Promise<EngineFailure | undefined>;
  #info: EngineInfo = { name: "", author: "", options: [] };
  readonly #transport: UciTransport;
  readonly #times: WatchTimes;
  readonly #exit = Promise.withResolvers<EngineFailure | undefined>();
  /** As searches set them. */
  #options: OptionState = createOptionState([]);
  readonly #flood = createFloodMeter();
  #state: SessionState = { kind: "greeting", exchange: undefined };
  #searches = 0;

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

  get alive(): boolean {
    return this.#state.kind !== "hung up" && this.#state.kind !== "ended";
  }

  get state(): EngineState {
    return engineStateOf(this.#state);
  }

  get searches(): number {
    return this.#searches;
  }

  get free(): Promise<unknown> {
    if (!this.alive) {
      return this.exited;
    }
    // The engine is busy until its bestmove.
    return isLeft(this.#state)
      ? this.#state.search.ended.then(() => (this.alive ? undefined : this.exited))
      : Promise.resolve();
  }

  memoryBytes(): number | undefined {
    return this.#transport.memoryBytes();
  }

  /** The greeting: who the engine is, and the operator's settings. */
  async greet(): Promise<void> {
    const { settings } = this.build;
    const options: UciOption[] = [];
    const said = { name: "", author: "" };
    await this.#exchange(["uci"], "uciok", (line) => {
      if (line.kind === "id") {
        said[line.field] = line.value;
      } else if (line.kind === "option") {
        options.push(line.option);
      }
    });
    this.#info = { ...said, options: callersOptionsFrom(options) };
    this.#options = createOptionState(options);
    // These are never set back.
    const settingLines = createOptionState(options).set([
      // Hash after Threads, as Stockfish recommends.
      ["Threads", String(settings.threads)],
      ["Hash", String(settings.hashMb)],
      ["UCI_ShowWDL", "true"],
    ]);
    await this.#exchange([...settingLines, "isready"], "readyok");
  }

  async search(job: SearchJob, signal: AbortSignal, ...audience: Audience): Promise<SearchDone> {
    if (isLeft(this.#state) || this.#state.kind === "hung up") {
      await beforeAbort(this.free, signal);
    }
    signal.throwIfAborted();
    const state = this.#state;
    if (state.kind === "ended") {
      // Whatever it died of, it was not this search: that one can be tried on another engine.
      const cause = state.failure;
      throw new EngineFailure("no_start", "the engine was gone before the search began", { cause });
    }
    if (searchOf(state)) {
      throw new Error("a session does one search at a time");
    }
    const cleaning = state.kind === "unclean" ? state.lines : [];
    this.#assertMayFollow("cleanBy" in state ? "queued" : "searching");
    // In one write with the cleaning: engines do one thing after the other, and each write wakes them.
    const before = [...cleaning, ...this.#options.set(valuesOfSearch(this.#info.options, job))];
    const kill = (failure: EngineFailure) => void this.#end(blamed(failure, this.#state));
    const search = startSearch(this.#transport, before, job, this.#times, kill, audience);
    this.#move(
      "cleanBy" in state ? { kind: "queued", search, cleanBy: state.cleanBy } : { kind: "searching", search },
    );
    this.#searches++;
    this.#flood.reset();
    // Where that may not follow, it has ended with the reason.
    search.ended.then(() => this.#cleanUpAfter(search)).catch(() => {});
    const leave = () => search.leave(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    try {
      return await search.answer;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  cutShort(): void {
    searchOf(this.#state)?.cutShort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end(undefined);
  }

  /** @throws EngineFailure where it may not: the service has lost count of the engine, which is ended then. */
  #assertMayFollow(next: SessionState["kind"]): void {
    try {
      assertMayFollow(sessionTransitions, this.#state.kind, next);
    } catch (cause) {
      const failure = new EngineFailure("protocol_error", `the session lost count: ${cause}`, { cause });
      void this.#end(failure);
      throw failure;
    }
  }

  #move(next: SessionState): void {
    this.#assertMayFollow(next.kind);
    this.#state = next;
  }

  #beginToClean(): Deadline {
    return createDeadline(this.#times.cleanMs, () => {
      // Not the fault of a search that waits behind it: that one can be tried on another engine.
      void this.#end(new EngineFailure("no_start", `not ready again within ${this.#times.cleanMs} ms`));
    });
  }

  /**
   * Leaves nothing of a caller behind. A search that follows at once is sent in the same write, and the first line of
   * it says as well as a `readyok` that all before it is done.
   */
  #cleanUpAfter(search: UciSearch): void {
    if (searchOf(this.#state) !== search || !this.alive) {
      return;
    }
    const cleanBy = this.#beginToClean();
    const unclean = { kind: "unclean", lines: [...this.#options.reset(), "ucinewgame"], cleanBy } as const;
    this.#move(unclean);
    process.nextTick(() => {
      if (this.#state === unclean) {
        this.#move({ kind: "cleaning", cleanBy });
        this.#transport.send(...unclean.lines, "isready");
      }
    });
  }

  #receive(text: string): void {
    const state = this.#state;
    switch (state.kind) {
      case "queued":
        state.cleanBy.clear();
        this.#move({ kind: "searching", search: state.search });
        state.search.receive(text);
        return;
      case "searching":
        state.search.receive(text);
        return;
      case "hung up":
      case "ended":
        return;
    }
    const line = parseLine(text);
    if (line.kind === "bestmove") {
      // The next caller must not take it for their answer.
      void this.#end(new EngineFailure("protocol_error", "a bestmove that nobody asked for"));
    } else if (state.kind === "greeting") {
      state.exchange?.receive(line);
    } else if (state.kind === "cleaning" && line.kind === "readyok") {
      state.cleanBy.clear();
      this.#move({ kind: "idle" });
    }
  }

  /** Sends lines and waits for an answer; `readyok` is the last one. @throws EngineFailure, and then the engine is gone. */
  async #exchange(
    lines: readonly string[],
    until: "uciok" | "readyok",
    each: (line: UciLine) => void = () => {},
  ): Promise<void> {
    if (!this.alive) {
      throw (await this.exited) ?? closedByUs();
    }
    const waiting = Promise.withResolvers<void>();
    const receive = (line: UciLine) => {
      if (line.kind !== until) {
        each(line);
        return;
      }
      if (until === "readyok") {
        this.#move({ kind: "idle" });
      }
      waiting.resolve();
    };
    this.#move({ kind: "greeting", exchange: { receive, fail: waiting.reject } });
    const timeoutMs = this.#times.startMs;
    const deadline = createDeadline(timeoutMs, () => {
      void this.#end(new EngineFailure("no_start", `no ${until} within ${timeoutMs} ms`));
    });
    this.#transport.send(...lines);
    try {
      await waiting.promise;
    } finally {
      deadline.clear();
    }
  }

  async #read(): Promise<void> {
    try {
      await this.#transport.read((line) => {
        if (this.#flood.floods(line)) {
          const failure = new EngineFailure("flooded", "the engine prints without an end");
          void this.#end(blamed(failure, this.#state));
        } else {
          this.#receive(line);
        }
      });
      const was = this.#state;
      if (was.kind === "hung up" || was.kind === "ended") {
        return;
      }
      this.#move({ kind: "hung up", was });
      await this.#end(blamed(await failureOfExit(this.#transport), was));
    } catch (cause) {
      await this.#end(new EngineFailure("exited", `the engine's pipe broke: ${cause}`, { cause }));
    }
  }

  /** Ends the engine once; what is under way learns why. */
  async #end(failure: EngineFailure | undefined): Promise<void> {
    const state = this.#state;
    if (state.kind !== "ended") {
      const was = state.kind === "hung up" ? state.was : state;
      this.#move({ kind: "ended", failure });
      if ("cleanBy" in was) {
        was.cleanBy.clear();
      }
      if (was.kind === "greeting") {
        was.exchange?.fail(failure ?? closedByUs());
      }
      searchOf(was)?.lose(failure ?? closedByUs());
      await this.#transport.kill();
      this.#exit.resolve(failure);
    }
    await this.exited;
  }
}

/** Greets an engine. @throws EngineFailure of the kind `no_start`, or the reason of `signal`; the engine is gone then. */
export async function createUciSession(
  build: EngineBuild,
  transport: UciTransport,
  times: WatchTimes,
  signal: AbortSignal,
): Promise<UciSession> {
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
    throw error instanceof EngineFailure && (error.kind === "exited" || error.kind === "killed")
      ? new EngineFailure("no_start", error.message, { cause: error })
      : error;
  } finally {
    signal.removeEventListener("abort", abandon);
  }
}
