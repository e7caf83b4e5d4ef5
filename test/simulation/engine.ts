import type { EngineBackend, EngineBuild, EnginePath, EngineSettings, Net } from "../../src/engine/engine.ts";
import { EngineFailure } from "../../src/engine/engine.ts";
import { profileOf } from "../../src/engine/profiles.ts";
import { selfTest } from "../../src/engine/self-test.ts";
import { createUciSession } from "../../src/engine/uci/session.ts";
import type { ProcessEnd, UciTransport } from "../../src/engine/uci/transport.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { buildOf } from "../engine/build-of.ts";
import type { Clock, Process } from "./clock.ts";
import {
  createEngineFaults,
  type EngineFault,
  type EngineFaults,
  type EnginePhase,
  type FaultOf,
} from "./engine-faults.ts";
import type { Random } from "./random.ts";
import { deepest, type Iteration, type Question, selfTestNodesOf, type Truth, truthOf } from "./truth.ts";

/** What happens to the engines, for the trace, the counts and the invariants of the simulation. */
export interface EngineWatch {
  /** In the words of the trace, such as `node 2: engine 3 dies while it is cleaned`. */
  trace(text: () => string): void;
  /** The kind of a fault, or the kind and the phase of the engine, such as `engine dies, cleaning`. */
  count(name: string): void;
  /** The server broke a rule of UCI, or used an engine twice. */
  violation(text: string): void;
}

export interface SimulatedBuild {
  readonly id: string;
  readonly version: string;
  readonly net: Net;
  readonly path: EnginePath;
  readonly settings: EngineSettings;
}

interface SimulatedEnginesOptions {
  /** The number of the node. */
  readonly node: number;
  /** The process that reads the output of the engines. If it is paused, it reads late. */
  readonly reader: Process;
  readonly builds: readonly SimulatedBuild[];
  readonly faults: readonly EngineFault[];
  readonly clock: Clock;
  readonly random: Random;
  readonly watch: EngineWatch;
}

interface SimulatedEngines {
  /** For native and for WebAssembly engines. */
  readonly backends: readonly EngineBackend[];
  /** The number of processes that have been started. */
  readonly starts: number;
  /** The number of `go` commands. */
  readonly searches: number;
  /** The milliseconds in which the server waited for the answer of at least one process. */
  searchingMs(): number;
  /** The phases of the processes that have not ended. */
  phases(): readonly EnginePhase[];
  /** Ends all processes. Call this if the node is killed. */
  kill(): void;
}

/** The engines of one node, from its start to its end. A node that starts again gets new engines. */
export function createSimulatedEngines(options: SimulatedEnginesOptions): SimulatedEngines {
  const { node, reader, builds, clock, random, watch } = options;
  const faults = createEngineFaults(
    options.faults.filter((fault) => fault.node === node),
    clock.now,
  );
  const alive = new Set<SimulatedProcess>();
  let starts = 0;
  let searches = 0;
  /** When the server ended a process that it had started for nothing. */
  let wasted: number[] = [];
  /** The number of processes that the server must end, because their file is not genuine. */
  let refused = 0;
  let searchedMs = 0;
  let searchingSince: number | undefined;

  function onAsked(): void {
    const isSearching = [...alive].some(({ isAsked }) => isAsked);
    if (isSearching) {
      searchingSince ??= clock.now();
    } else if (searchingSince !== undefined) {
      searchedMs += clock.now() - searchingSince;
      searchingSince = undefined;
    }
  }

  /** Starts are bounded. A caller that leaves wastes an engine, but not each search does. */
  function onUnused(): void {
    if (refused > 0) {
      refused--;
      return;
    }
    wasted = [...wasted.filter((at) => clock.now() - at < wastedWithinMs), clock.now()];
    if (wasted.length === wastedMax) {
      watch.violation(
        `node ${node} has started ${wasted.length} engines for nothing in ${wastedWithinMs} ms`,
      );
    }
  }

  function startProcess(build: SimulatedBuild, answersOf: string): SimulatedProcess {
    const number = ++starts;
    const process = new SimulatedProcess({
      name: `node ${node}: engine ${number}`,
      build,
      answersOf,
      faults,
      clock,
      reader,
      random: random.fork(`engine ${number}`),
      watch,
      onSearch: () => searches++,
      onAsked,
      onUnused,
      onEnd() {
        alive.delete(process);
        onAsked();
      },
    });
    alive.add(process);
    return process;
  }

  const breaking = clock.process(`the faults of the engines of node ${node}`);
  for (const fault of faults.all) {
    if ("during" in fault) {
      breaking.run(() =>
        clock.at(fault.atMs, () => {
          for (const process of alive) {
            process.break(fault);
          }
        }),
      );
    }
  }

  /** Native engines can be modified. The files of WebAssembly engines are pinned. */
  function answersOf({ id, path }: SimulatedBuild): string {
    for (const fault of path === "native"
      ? faults.active("engine is modified", "engine is irreproducible")
      : []) {
      if (faults.take(fault)) {
        watch.count(fault.kind);
        const kind = fault.kind === "engine is modified" ? modified : irreproducible;
        watch.trace(() => `node ${node}: the native ${id} is ${kind}`);
        return `${id} ${kind}`;
      }
    }
    return id;
  }

  /** The names are those of `answersOf`, because the pool starts an engine only by its build. */
  const found = new Map<EngineBuild, { readonly simulated: SimulatedBuild; readonly answers: string }>();

  async function discover(simulated: SimulatedBuild, signal: AbortSignal): Promise<EngineBuild> {
    const answers = answersOf(simulated);
    const { settings, path, ...identity } = simulated;
    const selfTestNodes =
      path === "wasm"
        ? selfTestNodesOf(answers, settings.hashMb)
        : await testProcess(startProcess(simulated, answers), settings, signal);
    const build = buildOf({
      ...identity,
      name: answers,
      path,
      settings,
      file: `/simulated/${simulated.id}-${path}`,
      sha256: `${answers} ${path}`,
      reproducible: selfTestNodes !== undefined && settings.threads === 1,
      selfTestNodes,
      assertUnchanged: async () => failStart("file changed", "no descriptor"),
      assertGenuine: async () => failStart("not genuine"),
    });
    found.set(build, { simulated, answers });
    return build;
  }

  async function testProcess(process: SimulatedProcess, settings: EngineSettings, signal: AbortSignal) {
    await using session = await createUciSession(settings, process, defaultWatchTimes, signal);
    return await selfTest(session, profileOf("stockfish"), settings.threads, signal);
  }

  /** As the discovery of native engines does: leaves out a build that fails its self-test. */
  async function discoverAll(path: EnginePath, signal: AbortSignal): Promise<readonly EngineBuild[]> {
    const discovered: EngineBuild[] = [];
    for (const simulated of builds.filter((build) => build.path === path)) {
      try {
        discovered.push(await discover(simulated, signal));
      } catch (error) {
        signal.throwIfAborted();
        watch.trace(() => `node ${node}: the ${path} ${simulated.id} is left out: ${error}`);
      }
    }
    return discovered;
  }

  function failStart(...problems: readonly FaultOf<"engine does not start">["because"][]): void {
    for (const fault of faults.active("engine does not start")) {
      if (problems.includes(fault.because) && faults.take(fault)) {
        watch.count(`${fault.kind}, ${fault.because}`);
        watch.trace(() => `node ${node}: an engine cannot be started: ${fault.because}`);
        refused += Number(fault.because === "not genuine");
        throw fault.because === "no descriptor"
          ? Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE", syscall: "open" })
          : new EngineFailure("no_start", fault.because);
      }
    }
  }

  const backendOf = (path: EnginePath): EngineBackend => ({
    path,
    discover: (signal) => discoverAll(path, signal),
    async start(build, signal) {
      const { simulated, answers } = found.get(build) ?? {};
      if (simulated === undefined || answers === undefined) {
        throw new Error(`node ${node} starts the build ${build.id}, which it has not discovered`);
      }
      return createUciSession(build.settings, startProcess(simulated, answers), defaultWatchTimes, signal);
    },
  });

  return {
    backends: [backendOf("native"), backendOf("wasm")],
    get starts() {
      return starts;
    },
    get searches() {
      return searches;
    },
    searchingMs: () => searchedMs + (searchingSince === undefined ? 0 : clock.now() - searchingSince),
    phases: () => [...alive].map(({ phase }) => phase),
    kill() {
      breaking.kill();
      for (const process of alive) {
        process.end("outside", 0);
      }
    },
  };
}

const modified = "modified";
const irreproducible = "irreproducible";

/** Greeting of Stockfish, without the options that Kibitz does not use. */
const options = [
  "option name Threads type spin default 1 min 1 max 1024",
  "option name Hash type spin default 16 min 1 max 33554432",
  "option name MultiPV type spin default 1 min 1 max 256",
  "option name Skill Level type spin default 20 min 0 max 20",
  "option name UCI_LimitStrength type check default false",
  "option name UCI_Elo type spin default 1320 min 1320 max 3190",
  "option name UCI_Chess960 type check default false",
  "option name UCI_ShowWDL type check default false",
] as const;

const defaults: ReadonlyMap<string, string> = new Map(
  options.map((line) => {
    const [, name = "", value = ""] = /name (.+) type .* default (\S+)/.exec(line) ?? [];
    return [name, value];
  }),
);

interface ProcessOptions {
  readonly name: string;
  readonly build: SimulatedBuild;
  readonly answersOf: string;
  readonly faults: EngineFaults;
  readonly clock: Clock;
  readonly reader: Process;
  readonly random: Random;
  readonly watch: EngineWatch;
  readonly onSearch: () => void;
  /** Called when the server has asked for a search, and when it has the answer. */
  readonly onAsked: () => void;
  /** Called if the server ends a process that does not flood soon after its start, before its first search. */
  readonly onUnused: () => void;
  readonly onEnd: () => void;
}

interface Search {
  readonly question: Question;
  readonly truth: Truth;
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
  readonly beganAt: number;
  readonly nodesPerMs: number;
  /** When the engine's own movetime ends the search. */
  readonly endsAt: number;
  /** The time that the engine prints then, in milliseconds since the search began. */
  readonly printsAtEnd: number;
  readonly ignoresStop: boolean;
  /** The depth of the last complete iteration. */
  reached: number;
  /** True after the engine has printed something between two iterations. */
  hasPrinted: boolean;
  isEnding: boolean;
  timer: { cancel(): void } | undefined;
}

/** Lines that engines print within this time arrive together. */
const togetherMs = 2;
/** After this time, Stockfish prints its lines also during an iteration. */
const longMs = 3000;

/** An engine that is ended within this time after its start, and has not searched, was started for nothing. */
const soonMs = 5000;
/** This number of engines that were started for nothing within this time is a violation. */
const wastedMax = 6;
const wastedWithinMs = 10_000;

const floodLine = `info string ${"x".repeat(60_000)}`;
const floodLines = 10;
const floodMaxLines = 800;

const words: Record<EnginePhase, string> = {
  starting: "while it starts",
  idle: "while it is idle",
  searching: "while it searches",
  cleaning: "while it is cleaned",
};

class SimulatedProcess implements UciTransport {
  readonly ended: Promise<ProcessEnd>;
  readonly #options: ProcessOptions;
  readonly #exit = Promise.withResolvers<ProcessEnd>();
  readonly #pipe = Promise.withResolvers<void>();
  /** Ends with the engine, or when the engine hangs. */
  readonly #process: Process;
  readonly #values = new Map(defaults);
  readonly #input: string[] = [];
  /** Nodes per millisecond. */
  readonly #speed: number;
  #receive: (line: string) => void = () => {};
  #phase: EnginePhase = "starting";
  /** False after `ucinewgame` until the server has read `readyok`. */
  #isReady = true;
  /** True while the engine reads no input. */
  #isBlocked = false;
  #isReading = false;
  #hasEnded = false;
  #position = "";
  #search: Search | undefined;
  #isAsked = false;
  #searches = 0;
  #hasFlooded = false;
  /** Set if the hash contains an earlier search. */
  #isDirty = false;
  #readyAt = 0;
  #usedMs = 0;
  #busySince: number | undefined;

  constructor(options: ProcessOptions) {
    this.#options = options;
    const { build, random, watch, name } = options;
    this.ended = this.#exit.promise;
    this.#process = options.clock.process(name);
    this.#speed = 20 * 50 ** random.next();
    watch.trace(() => `${name} starts (${options.answersOf}, ${build.path})`);
    this.#enter("starting");
    this.#start();
  }

  get phase(): EnginePhase {
    return this.#phase;
  }

  /** True while the server waits for the answer of a search, even if the engine hangs. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  send(...lines: readonly string[]): void {
    if (this.#hasEnded) {
      return;
    }
    if (lines.includes("ucinewgame")) {
      this.#isReady = false;
    } else if (lines.some((line) => line.startsWith("go "))) {
      this.#ask(true);
      if (!this.#isReady) {
        this.#violation("got go before it was clean: its time limit began too early");
      }
    }
    if (!this.#process.isAlive) {
      return;
    }
    this.#input.push(...lines);
    if (!this.#isReading && !this.#isBlocked) {
      this.#isReading = true;
      this.#after(this.#options.random.between(0.02, 0.3), () => this.#read());
    }
  }

  read(receive: (line: string) => void): Promise<void> {
    this.#receive = receive;
    return this.#pipe.promise;
  }

  async kill(): Promise<void> {
    if (!this.#hasEnded) {
      const { clock, name, onUnused, watch } = this.#options;
      watch.trace(() => `${name} is ended by the server ${words[this.#phase]}`);
      const isNew = this.#phase === "idle" && this.#searches === 0 && clock.now() - this.#readyAt < soonMs;
      // The server must end an engine that floods.
      if (isNew && !this.#hasFlooded) {
        onUnused();
      }
      this.end("outside", this.#options.random.between(1, 20));
    }
    await this.ended;
  }

  memoryBytes(): number | undefined {
    if (this.#hasEnded) {
      return undefined;
    }
    const { net, settings } = this.#options.build;
    const usual = net === "full" ? 470e6 : 110e6;
    return usual * (this.#searches === 0 ? 0.6 : 1) + settings.hashMb * 1e6;
  }

  processorMs(): number | undefined {
    const now = this.#options.clock.now();
    const ms = this.#usedMs + (this.#busySince === undefined ? 0 : now - this.#busySince);
    return this.#hasEnded ? undefined : Math.floor(ms / 10) * 10;
  }

  /** Breaks this engine by the fault if the engine is still in the phase `afterMs` later. */
  break(fault: Extract<EngineFault, { readonly during: EnginePhase }>): void {
    const search = this.#searches;
    if (this.#phase !== fault.during) {
      return;
    }
    this.#after(fault.afterMs, () => {
      if (this.#phase !== fault.during || this.#searches !== search || !this.#take(fault)) {
        return;
      }
      switch (fault.kind) {
        case "engine dies":
          this.#die("itself", "dies");
          break;
        case "engine is killed":
          this.#die("outside", "is killed from outside");
          break;
        case "engine hangs":
          this.#trace("hangs");
          this.#hang();
          break;
        case "engine floods":
          this.#trace("floods");
          this.#flood(0);
          break;
      }
    });
  }

  #start(): void {
    const { build, random, faults } = this.#options;
    const isFull = build.net === "full";
    let startMs = build.path === "wasm" ? random.between(100, isFull ? 900 : 300) : random.between(5, 60);
    for (const fault of faults.active("engine starts slowly")) {
      if (this.#take(fault)) {
        this.#trace(`starts ${fault.byMs} ms late`);
        startMs += fault.byMs;
      }
    }
    for (const fault of faults.active("engine does not start")) {
      if ((fault.because === "exits" || fault.because === "is silent") && this.#take(fault)) {
        if (fault.because === "is silent") {
          this.#trace("does not answer");
          this.#hang();
        } else {
          this.#after(random.between(1, startMs), () => this.#die("itself", "exits"));
        }
        return;
      }
    }
    this.#block(startMs, true);
  }

  /** Reads no input for some time, and then calls `then`. */
  #block(ms: number, isBusy: boolean, then = () => {}): void {
    this.#isBlocked = true;
    this.#busy(isBusy);
    this.#after(ms, () => {
      this.#isBlocked = false;
      this.#busy(false);
      then();
      this.#read();
    });
  }

  #read(): void {
    this.#isReading = false;
    while (!this.#isBlocked && this.#process.isAlive) {
      const line = this.#input.shift();
      if (line === undefined) {
        return;
      }
      this.#obey(line);
    }
  }

  #obey(line: string): void {
    const { random, faults, build, answersOf } = this.#options;
    if (line === "uci") {
      this.#print([`id name Stockfish 19, ${answersOf}`, "id author nobody", ...options, "uciok"]);
    } else if (line === "isready") {
      if (this.#search === undefined && this.#phase !== "idle") {
        this.#enter("idle");
      }
      if (!this.#input.includes("ucinewgame")) {
        this.#tell(0, () => {
          this.#isReady = true;
        });
      }
      this.#print(["readyok"]);
    } else if (line.startsWith("setoption ")) {
      const [, name = "", value = ""] = /^setoption name (.+) value (.*)$/.exec(line) ?? [];
      this.#assertNoSearch(line);
      if (!this.#values.has(name)) {
        this.#violation(`got the unknown option ${name}`);
      }
      this.#values.set(name, value);
    } else if (line.startsWith("position ")) {
      this.#assertNoSearch(line);
      this.#position = line.slice("position ".length);
    } else if (line === "ucinewgame") {
      this.#assertNoSearch(line);
      this.#isDirty = false;
      let cleanMs = 0.5 + build.settings.hashMb * random.between(0.12, 0.25);
      for (const fault of faults.active("engine cleans slowly")) {
        if (this.#take(fault)) {
          this.#trace(`needs ${fault.byMs} ms more to clean its hash`);
          cleanMs += fault.byMs;
        }
      }
      this.#block(cleanMs, true);
    } else if (line.startsWith("go ")) {
      this.#assertNoSearch(line);
      this.#go(line);
    } else if (line === "stop") {
      this.#stop();
    } else {
      this.#violation(`got the unknown command ${line}`);
    }
  }

  #go(line: string): void {
    const { faults, onSearch } = this.#options;
    onSearch();
    this.#searches++;
    this.#enter("searching");
    for (const fault of faults.active("engine reads go late")) {
      if (this.#take(fault)) {
        this.#trace(`reads go ${fault.byMs} ms late`);
        this.#block(fault.byMs, false, () => this.#begin(line));
        return;
      }
    }
    this.#begin(line);
  }

  #begin(line: string): void {
    const { clock, faults, random } = this.#options;
    const numberOf = (field: string) => {
      const [, digits] = new RegExp(` ${field} (\\d+)`).exec(line) ?? [];
      return digits === undefined ? undefined : Number(digits);
    };
    const movetimeMs = numberOf("movetime") ?? Number.POSITIVE_INFINITY;
    let nodesPerMs = this.#speed * random.between(0.6, 1.4);
    /** Stockfish compares times that it has cut to milliseconds, and may end a moment early. */
    let keptMs = random.next();
    for (const fault of faults.active("engine searches slowly", "engine keeps movetime")) {
      if (this.#take(fault)) {
        if (fault.kind === "engine searches slowly") {
          this.#trace(`searches ${fault.factor} times more slowly`);
          nodesPerMs /= fault.factor;
        } else {
          this.#trace(`keeps ${fault.byMs} ms of its movetime`);
          keptMs += fault.byMs;
        }
      }
    }
    const stubborn = faults.active("engine ignores stop").find((fault) => this.#take(fault));
    if (stubborn) {
      this.#trace(`will ignore stop${stubborn.isBusy ? "" : ", because the machine is slow"}`);
    }
    const question = this.#question(line);
    const now = clock.now();
    const search: Search = {
      question,
      truth: truthOf(question),
      depth: numberOf("depth"),
      nodes: numberOf("nodes"),
      beganAt: now,
      nodesPerMs,
      endsAt: stubborn ? Number.POSITIVE_INFINITY : now + Math.max(0, movetimeMs - keptMs),
      printsAtEnd: Math.max(0, movetimeMs - Math.floor(keptMs)),
      ignoresStop: stubborn !== undefined,
      reached: 0,
      hasPrinted: false,
      isEnding: false,
      timer: undefined,
    };
    this.#search = search;
    this.#isDirty = true;
    this.#busy(stubborn?.isBusy ?? true);
    for (const fault of faults.active("engine dies at a position")) {
      if (question.position.startsWith(`fen ${fault.fen}`)) {
        this.#after(fault.afterMs, () => {
          if (this.#search === search && this.#take(fault)) {
            this.#die("itself", "dies at a position that breaks engines");
          }
        });
      }
    }
    this.#plan(search);
  }

  /** What an engine with these options and this hash is asked. */
  #question(line: string): Question {
    const { answersOf, build } = this.#options;
    const isUncertain = answersOf.endsWith(irreproducible) || build.settings.threads > 1 || this.#isDirty;
    const [, moves = ""] = line.split(" searchmoves ");
    return {
      answersOf: isUncertain ? `${answersOf}, search ${this.#searches}` : answersOf,
      hashMb: Number(this.#values.get("Hash")),
      position: this.#position,
      chess960: this.#values.get("UCI_Chess960") === "true",
      multipv: Number(this.#values.get("MultiPV")),
      searchMoves: moves.split(" ").filter(Boolean),
    };
  }

  /** Sets the timer for the next thing that the engine prints. */
  #plan(search: Search): void {
    const { truth, nodesPerMs, beganAt, depth: depthMax = deepest } = search;
    const nodesMax = search.nodes ?? Number.POSITIVE_INFINITY;
    const nodesAt = (depth: number) => truth.nodesAt(depth);
    const timeOf = (depth: number) => beganAt + nodesAt(depth) / nodesPerMs;
    const now = this.#options.clock.now();
    const first = search.reached + 1;
    if (nodesAt(first) >= nodesMax) {
      const at = beganAt + nodesMax / nodesPerMs;
      this.#planAt(search, Math.min(at, search.endsAt), () =>
        at < search.endsAt ? this.#finish(search, "limit") : this.#finish(search, "movetime"),
      );
      return;
    }
    const firstAt = timeOf(first);
    const betweenAt = (now + firstAt) / 2;
    if (!search.hasPrinted && betweenAt < search.endsAt && printsBetween(search, firstAt - now, betweenAt)) {
      this.#planAt(search, betweenAt, () => {
        search.hasPrinted = true;
        this.#printBetween(search);
        this.#plan(search);
      });
      return;
    }
    if (firstAt >= search.endsAt) {
      this.#planAt(search, search.endsAt, () => this.#finish(search, "movetime"));
      return;
    }
    let last = first;
    while (
      last < depthMax &&
      nodesAt(last + 1) < nodesMax &&
      timeOf(last + 1) < Math.min(firstAt + togetherMs, search.endsAt)
    ) {
      last++;
    }
    this.#planAt(search, timeOf(last), () => {
      for (let depth = first; depth <= last; depth++) {
        search.reached = depth;
        this.#printIteration(search, timeOf(depth), depth);
      }
      search.hasPrinted = false;
      if (last === depthMax) {
        this.#finish(search, "limit");
      } else {
        this.#plan(search);
      }
    });
  }

  #planAt(search: Search, at: number, run: () => void): void {
    const { clock } = this.#options;
    search.timer = this.#after(Math.max(0, at - clock.now()), () => {
      if (this.#search === search && !search.isEnding) {
        run();
      }
    });
  }

  #printIteration(search: Search, at: number, depth: number): void {
    const { truth, beganAt } = search;
    const lines: string[] = [];
    const complete = truth.iteration(depth);
    if (complete.lines.length > 1 && at - beganAt > longMs) {
      // In a long search, Stockfish prints all lines again when one line is finished.
      const move = complete.lines[0]?.moves[0];
      lines.push(`info depth ${depth} currmove ${move} currmovenumber 1`);
      const before = truth.iteration(depth - 1).lines;
      const mixed = complete.lines.map((line, rank) => (rank === 0 ? line : (before[rank] ?? line)));
      lines.push(...infoLines(search, { ...complete, lines: mixed }, at));
      lines.push(`info depth ${depth} currmove ${move} currmovenumber 2`);
    }
    lines.push(...infoLines(search, complete, at));
    this.#print(lines);
  }

  /** Prints a bound, or with several lines, an unfinished iteration like a complete iteration, which `currmove` follows. */
  #printBetween(search: Search): void {
    const { clock, random } = this.#options;
    const now = clock.now();
    const depth = search.reached + 1;
    const nodes = Math.floor((now - search.beganAt) * search.nodesPerMs);
    const unfinished = search.truth.unfinished(depth, nodes, random.int(1000));
    this.#print(
      unfinished.lines.length > 1
        ? infoLines(search, unfinished, now)
        : infoLines(search, unfinished, now, random.pick([" lowerbound", " upperbound"])),
    );
  }

  #stop(): void {
    const { faults, random, build } = this.#options;
    const search = this.#search;
    if (search === undefined || search.isEnding) {
      return;
    }
    if (search.ignoresStop) {
      this.#count("engine ignores stop, stop");
      this.#trace("ignores stop");
      return;
    }
    // WebAssembly engines read their input every 46 ms.
    let afterMs = build.path === "wasm" ? random.between(0, 46) : random.between(0.05, 2);
    for (const fault of faults.active("engine answers stop late")) {
      if (this.#take(fault)) {
        this.#trace(`answers stop ${fault.byMs} ms late`);
        afterMs += fault.byMs;
      }
    }
    this.#after(afterMs, () => this.#finish(search, "stop"));
  }

  #finish(search: Search, by: "limit" | "movetime" | "stop"): void {
    const { clock, random, faults } = this.#options;
    if (this.#search !== search || search.isEnding) {
      return;
    }
    search.isEnding = true;
    search.timer?.cancel();
    const at = by === "movetime" ? search.beganAt + search.printsAtEnd : clock.now();
    let bestMoves: readonly string[];
    if (by === "limit") {
      const { unfinished, bestMove, ponder } = search.truth.whole(search);
      this.#print(unfinished ? infoLines(search, unfinished, at) : []);
      bestMoves = ponder === undefined ? [bestMove] : [bestMove, ponder];
    } else {
      const nodes = Math.floor((clock.now() - search.beganAt) * search.nodesPerMs);
      const unfinished = search.truth.unfinished(search.reached + 1, nodes, random.int(1000));
      const prints = random.chance(0.8);
      this.#print(prints ? infoLines(search, unfinished, at) : []);
      const newest = prints || search.reached === 0 ? unfinished : search.truth.iteration(search.reached);
      bestMoves = newest.lines[0]?.moves ?? [];
    }
    let afterMs = 0;
    for (const fault of faults.active("engine answers late")) {
      if (this.#take(fault)) {
        this.#trace(`answers ${fault.byMs} ms late`);
        afterMs += fault.byMs;
      }
    }
    if (afterMs > 0) {
      this.#after(afterMs, () => this.#answer(search, bestMoves));
    } else {
      this.#answer(search, bestMoves);
    }
  }

  #answer({ truth, reached, nodes }: Search, [best = "(none)", ponder]: readonly string[]): void {
    const { faults, random } = this.#options;
    this.#search = undefined;
    this.#busy(false);
    this.#tell(0, () => this.#ask(false));
    const isWeak =
      this.#values.get("UCI_LimitStrength") === "true" || this.#values.get("Skill Level") !== "20";
    const others = truth.iteration(reached).lines.map(({ moves: [move] }) => move);
    const move = isWeak && others.length > 0 ? random.pick(others) : best;
    const reply = ponder === undefined || isWeak ? "" : ` ponder ${ponder}`;
    const fault = faults.active("engine answers nonsense").find((one) => this.#take(one));
    if (fault) {
      this.#trace(`answers nonsense: ${fault.what}`);
    }
    this.#enter("cleaning");
    switch (fault?.what) {
      case "illegal move":
        this.#print(["bestmove a1a1"]);
        break;
      case "illegal line": {
        // After the last node, the line would say that the unfinished iteration before it is complete.
        const lines = nodes === undefined ? truth.iteration(1).lines : [];
        const printed = lines.map((_, rank) => `info depth 200 multipv ${rank + 1} score cp 0 pv h8h8`);
        this.#print([...printed, `bestmove ${printed.length === 0 ? "a1a1" : `${move}${reply}`}`]);
        break;
      }
      case "no move":
        this.#print(["bestmove (none)"]);
        break;
      case "second answer":
        this.#print([`bestmove ${move}${reply}`, `bestmove ${move}`]);
        break;
      case "critical error":
        this.#print(["info string CRITICAL ERROR: Unsupported position", `bestmove ${move}`]);
        break;
      default:
        this.#print([`bestmove ${move}${reply}`]);
    }
  }

  #enter(phase: EnginePhase): void {
    const { clock, faults } = this.#options;
    if (this.#phase === "starting") {
      this.#readyAt = clock.now();
    }
    this.#phase = phase;
    for (const fault of faults.active("engine dies", "engine is killed", "engine hangs", "engine floods")) {
      this.break(fault);
    }
  }

  #flood(printed: number): void {
    this.#hasFlooded = true;
    if (printed < floodMaxLines) {
      this.#print(Array(floodLines).fill(floodLine));
      this.#after(1, () => this.#flood(printed + floodLines));
    }
  }

  /** The server reads what the engine printed, even if the engine has died since. */
  #print(lines: readonly string[]): void {
    if (lines.length > 0) {
      this.#tell(0, () => lines.forEach(this.#receive));
    }
  }

  #die(by: ProcessEnd, how: string): void {
    this.#trace(`${how} ${words[this.#phase]}`);
    const { random } = this.#options;
    // The system may report the end of the process some time after the end of its pipe.
    this.end(by, random.chance(0.1) ? random.between(150, 400) : random.between(0, 5));
  }

  /** The server learns later that the process has ended. */
  end(by: ProcessEnd, reportedAfterMs: number): void {
    const { onEnd } = this.#options;
    this.#hang();
    this.#hasEnded = true;
    this.#search = undefined;
    onEnd();
    this.#tell(0, () => this.#pipe.resolve());
    this.#tell(reportedAfterMs, () => this.#exit.resolve(by));
  }

  #ask(isAsked: boolean): void {
    this.#isAsked = isAsked;
    this.#options.onAsked();
  }

  #hang(): void {
    this.#busy(false);
    this.#process.kill();
  }

  /** Counts the processor time. */
  #busy(isBusy: boolean): void {
    const now = this.#options.clock.now();
    if (this.#busySince !== undefined) {
      this.#usedMs += now - this.#busySince;
    }
    this.#busySince = isBusy ? now : undefined;
  }

  #after(ms: number, run: () => void): { cancel(): void } {
    const { clock } = this.#options;
    return this.#process.run(() => clock.at(clock.now() + ms, run));
  }

  /** Calls `run` in the process of the server. */
  #tell(afterMs: number, run: () => void): void {
    const { clock, reader } = this.#options;
    reader.run(() => clock.at(clock.now() + afterMs, run));
  }

  #take(fault: EngineFault): boolean {
    const isTaken = this.#options.faults.take(fault);
    if (isTaken) {
      this.#count(fault.kind);
      this.#count(`${fault.kind}, ${this.#phase}`);
    }
    return isTaken;
  }

  #count(name: string): void {
    this.#options.watch.count(name);
  }

  #trace(what: string): void {
    this.#options.watch.trace(() => `${this.#options.name} ${what}`);
  }

  #violation(what: string): void {
    this.#options.watch.violation(`${this.#options.name} ${what}`);
  }

  #assertNoSearch(line: string): void {
    if (this.#search) {
      this.#violation(`got "${line}" during a search`);
    }
  }
}

/** Long iterations are printed before their end. */
/** A position with one legal move has one line, whatever MultiPV is. */
function printsBetween({ truth, beganAt }: Search, iterationMs: number, at: number): boolean {
  return truth.iteration(1).lines.length > 1 ? at - beganAt > longMs && iterationMs > 20 : iterationMs > 200;
}

function infoLines(
  { beganAt, nodesPerMs, question }: Search,
  { lines, seldepth, nodes }: Iteration,
  at: number,
  bound = "",
): readonly string[] {
  const ms = Math.floor(at - beganAt);
  const hashfull = Math.min(1000, Math.floor(nodes / (question.hashMb * 100)));
  const counters = `nodes ${nodes} nps ${Math.round(nodesPerMs * 1000)} hashfull ${hashfull} tbhits 0 time ${ms}`;
  return lines.map(({ depth, score, moves }, rank) => {
    const value = score.kind === "cp" ? `cp ${score.cp}` : `mate ${score.mate}`;
    const wdl = score.kind === "cp" && score.cp < 0 ? "100 700 200" : "200 700 100";
    return `info depth ${depth} seldepth ${seldepth} multipv ${rank + 1} score ${value}${bound} wdl ${wdl} ${counters} pv ${moves.join(" ")}`;
  });
}
