import {
  type EngineBuild,
  EngineFailure,
  type EngineInfo,
  type EngineSession,
  type EngineState,
  type OnProgress,
  type SearchDone,
  type SearchJob,
} from "../engine.ts";
import { callersOptionsFrom, createOptionState, type OptionState, uciValuesFrom } from "./options.ts";
import { parseLine, type UciLine, type UciOption } from "./parse-line.ts";
import { startSearch, type UciSearch } from "./search.ts";
import type { ProcessEnd, UciTransport } from "./transport.ts";
import { createDeadline, createFloodMeter, type Deadline, type WatchTimes } from "./watch.ts";

/** How long after its pipe a process takes to end, in milliseconds. */
const exitNewsMs = 200;

/** An engine that speaks UCI. `createUciSession` starts one. */
export class UciSession implements EngineSession {
  readonly build: EngineBuild;
  readonly exited: Promise<EngineFailure | undefined>;
  #info: EngineInfo = { name: "", author: "", options: [] };
  readonly #transport: UciTransport;
  readonly #times: WatchTimes;
  readonly #exit = Promise.withResolvers<EngineFailure | undefined>();
  /** As searches set them: what is set for life is never set back. */
  #options: OptionState = createOptionState([]);
  readonly #flood = createFloodMeter();
  #listener: (line: UciLine) => void = () => {};
  /** What waits for an answer to be exchanged. */
  #waiting: PromiseWithResolvers<void> | undefined;
  #search: UciSearch | undefined;
  /** While a search goes on whose caller has left; resolves when the engine is free of it. */
  #leaving: Promise<unknown> | undefined;
  /** Lines of the cleaning that wait for a search to travel with. */
  readonly #unsent: string[] = [];
  /** Set while the engine owes the first line after its cleaning. */
  #cleaning: Deadline | undefined;
  #state: Exclude<EngineState, "dead"> = "starting";
  #searches = 0;
  /** Set when the pipe has ended; how the process did comes a moment later. */
  #closed = false;
  /** Set when the engine is gone or being killed. */
  #ending: { readonly failure: EngineFailure | undefined } | undefined;

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
    return this.#ending === undefined && !this.#closed;
  }

  get state(): EngineState {
    return this.alive ? this.#state : "dead";
  }

  get searches(): number {
    return this.#searches;
  }

  get free(): Promise<unknown> {
    return this.#ending ? this.exited : (this.#leaving ?? Promise.resolve());
  }

  memoryBytes(): number | undefined {
    return this.#transport.memoryBytes();
  }

  /** The greeting: who the engine is, and the settings that it keeps for life. */
  async greet(): Promise<void> {
    const { settings } = this.build;
    const options: UciOption[] = [];
    const said = { name: "", author: "" };
    await this.#exchange(["uci"], "uciok", this.#times.startMs, (line) => {
      if (line.kind === "id") {
        said[line.field] = line.value;
      } else if (line.kind === "option") {
        options.push(line.option);
      }
    });
    this.#info = { ...said, options: callersOptionsFrom(options) };
    this.#options = createOptionState(options);
    const forLife = createOptionState(options).set([
      // Hash after Threads, as Stockfish recommends.
      ["Threads", String(settings.threads)],
      ["Hash", String(settings.hashMb)],
      ["UCI_ShowWDL", "true"],
    ]);
    await this.#exchange([...forLife, "isready"], "readyok", this.#times.startMs);
    this.#state = "idle";
  }

  async search(job: SearchJob, signal: AbortSignal, onProgress: OnProgress = () => {}): Promise<SearchDone> {
    if (this.#leaving) {
      await beforeAbort(this.#leaving, signal);
    }
    signal.throwIfAborted();
    if (this.#ending) {
      // Whatever it died of, it was not this search: that one can be tried on another engine.
      const cause = this.#ending.failure;
      throw new EngineFailure("no_start", "the engine was gone before the search began", { cause });
    }
    if (this.#search) {
      throw new Error("a session does one search at a time");
    }
    const before = [...this.#takeCleaning(), ...this.#optionLines(job), positionLine(job)];
    const kill = (failure: EngineFailure) => void this.#end(this.#blamed(failure));
    const search = startSearch(this.#transport, before, job, this.#times, kill, onProgress);
    this.#search = search;
    this.#searches++;
    this.#flood.reset();
    this.#state = "busy";
    this.#listener = search.receive;
    const leave = () => {
      this.#state = "stopping";
      search.leave(signal.reason);
      // The engine is busy until its bestmove.
      this.#leaving = search.ended.then(() => {
        this.#cleanUpAfter(search);
        return this.alive ? undefined : this.exited;
      });
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      const done = await search.answer;
      this.#cleanUpAfter(search);
      return done;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  cutShort(): void {
    this.#search?.cutShort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end(undefined);
  }

  /** Sets what this search wants otherwise than the engine. */
  #optionLines({ position, multipv, options }: SearchJob): readonly string[] {
    const wanted = uciValuesFrom(this.#info.options, options);
    wanted.set("UCI_Chess960", String(position.chess960));
    wanted.set("MultiPV", String(multipv));
    return this.#options.set(wanted);
  }

  /**
   * Leaves nothing of a caller behind. A search that follows at once is sent in the same write: engines do one thing
   * after the other, and the first line of it says as well as a `readyok` that all before it is done.
   */
  #cleanUpAfter(search: UciSearch): void {
    if (this.#search !== search || !this.alive) {
      return;
    }
    this.#search = undefined;
    this.#leaving = undefined;
    this.#state = "stopping";
    this.#unsent.push(...this.#options.reset(), "ucinewgame");
    this.#listener = () => {};
    this.#cleaning?.clear();
    this.#cleaning = createDeadline(this.#times.cleanMs, () => {
      // Not the fault of a search that waits behind it: that one can be tried on another engine.
      void this.#end(new EngineFailure("no_start", `not ready again within ${this.#times.cleanMs} ms`));
    });
    process.nextTick(() => {
      if (this.#unsent.length > 0) {
        this.#transport.send(...this.#takeCleaning(), "isready");
      }
    });
  }

  /** The lines that clean up, for whoever sends them. */
  #takeCleaning(): readonly string[] {
    return this.#unsent.splice(0);
  }

  #receive(line: UciLine): void {
    if (this.#search === undefined && line.kind === "bestmove" && !this.#ending) {
      // Nobody asked, and the next caller must not take it for their answer.
      void this.#end(new EngineFailure("confused", "a bestmove that nobody asked for"));
      return;
    }
    if (this.#cleaning && (this.#search !== undefined || line.kind === "readyok")) {
      this.#cleaning.clear();
      this.#cleaning = undefined;
      if (this.#search === undefined) {
        this.#state = "idle";
      }
    }
    this.#listener(line);
  }

  /** An engine that is still being cleaned has not begun the search behind that: it is not what broke it. */
  #blamed(failure: EngineFailure): EngineFailure {
    return this.#cleaning && this.#search
      ? new EngineFailure("no_start", "not ready again", { cause: failure })
      : failure;
  }

  /** Sends lines and waits for an answer. @throws EngineFailure, and then the engine is gone. */
  async #exchange(
    lines: readonly string[],
    until: "uciok" | "readyok",
    timeoutMs: number,
    each: (line: UciLine) => void = () => {},
  ): Promise<void> {
    if (this.#closed) {
      await this.exited;
    }
    if (this.#ending) {
      throw this.#reason;
    }
    const waiting = Promise.withResolvers<void>();
    this.#waiting = waiting;
    this.#listener = (line) => (line.kind === until ? waiting.resolve() : each(line));
    const deadline = createDeadline(timeoutMs, () => {
      void this.#end(new EngineFailure("no_start", `no ${until} within ${timeoutMs} ms`));
    });
    const look = setInterval(() => {
      if (this.#transport.suspended()) {
        const cause = new EngineFailure("suspended", "the engine was suspended from outside");
        void this.#end(
          new EngineFailure("no_start", `suspended from outside before its ${until}`, { cause }),
        );
      }
    }, this.#times.silenceMs);
    this.#transport.send(...lines);
    try {
      await waiting.promise;
    } finally {
      deadline.clear();
      clearInterval(look);
    }
  }

  async #read(): Promise<void> {
    try {
      await this.#transport.read((line) => {
        if (this.#flood.floods(line)) {
          void this.#end(this.#blamed(new EngineFailure("flooded", "the engine prints without an end")));
        } else {
          this.#receive(parseLine(line));
        }
      });
      this.#closed = true;
      await this.#end(this.#blamed(await this.#failureOfExit()));
    } catch (cause) {
      await this.#end(new EngineFailure("exited", `the engine's pipe broke: ${cause}`, { cause }));
    }
  }

  /** The pipe ends a moment before the system tells how the process did. */
  async #failureOfExit(): Promise<EngineFailure> {
    const unknown = Promise.withResolvers<ProcessEnd>();
    const deadline = createDeadline(exitNewsMs, () => unknown.resolve("itself"));
    const end = await Promise.race([this.#transport.ended, unknown.promise]);
    deadline.clear();
    return end === "outside"
      ? new EngineFailure("killed", "the engine was killed from outside")
      : new EngineFailure("exited", "the engine closed its pipe");
  }

  /** What those are told who wait for an engine that has ended. */
  get #reason(): EngineFailure {
    return this.#ending?.failure ?? new EngineFailure("exited", "the engine was closed");
  }

  /** Ends the engine once; what is under way learns why. */
  async #end(failure: EngineFailure | undefined): Promise<void> {
    if (this.#ending === undefined) {
      this.#ending = { failure };
      this.#cleaning?.clear();
      this.#waiting?.reject(this.#reason);
      this.#search?.lose(this.#reason);
      this.#search = undefined;
      await this.#transport.kill();
      this.#exit.resolve(failure);
    }
    await this.exited;
  }
}

/** Waits for a promise that never rejects. @throws the reason of `signal`, as soon as that is aborted. */
async function beforeAbort(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const leave = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

function positionLine({ position }: SearchJob): string {
  const moves = position.moves.length > 0 ? ` moves ${position.moves.join(" ")}` : "";
  return `position fen ${position.root}${moves}`;
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
