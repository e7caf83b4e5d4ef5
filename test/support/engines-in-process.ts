import type { EngineBackend, EngineBuild } from "../../src/engine/engine.ts";
import { createUciSession } from "../../src/engine/uci/session.ts";
import type { ProcessEnd, UciTransport } from "../../src/engine/uci/transport.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { buildOf } from "../engine/build-of.ts";
import { type Go, goFrom } from "./fake-engine/go.ts";
import { play, rateMoves } from "./fake-engine/moves.ts";
import { stockfishOptions } from "./fake-engine/stockfish-options.ts";

/**
 * Fake UCI engines in this process, for tests of other layers. They start immediately, need almost no processor time, and
 * report their searches.
 */
export interface EnginesInProcess extends EngineBackend {
  readonly searching: number;
  /** The number of searches that have started so far. */
  readonly begun: number;
  readonly newest: Go | undefined;
}

interface EnginesInProcessOptions {
  /** The depth in plies that a search reaches immediately. A deeper search runs until its time limit or until it is stopped. */
  readonly quickPlies?: number;
  readonly nodesAPly?: number;
  readonly sha256?: string;
}

export function createEnginesInProcess({
  quickPlies = 19,
  nodesAPly = 20,
  sha256 = "0".repeat(64),
}: EnginesInProcessOptions = {}): EnginesInProcess {
  let searching = 0;
  let begun = 0;
  let newest: Go | undefined;
  const report = (change: 1 | -1, go?: Go) => {
    searching += change;
    begun += change === 1 ? 1 : 0;
    newest = go ?? newest;
  };
  const builds: readonly EngineBuild[] = [
    buildOf({ name: "Stockfish 19 in process", sha256 }),
    buildOf({
      id: "stockfish-19-lite",
      name: "Stockfish 19 Lite in process",
      net: "lite",
      sha256,
    }),
  ];
  return {
    path: "wasm",
    discover: async () => builds,
    start: (build, signal) =>
      createUciSession(
        build.settings,
        createEngine(quickPlies, nodesAPly, report),
        defaultWatchTimes,
        signal,
      ),
    get searching() {
      return searching;
    },
    get begun() {
      return begun;
    },
    get newest() {
      return newest;
    },
  };
}

const greeting = ["id name Stockfish 19 in process", "id author nobody", ...stockfishOptions, "uciok"];

/** Creates one UCI engine. @param report called with 1 and the limits at the start of a search, and with -1 at its end */
function createEngine(
  quickPlies: number,
  nodesAPly: number,
  report: (change: 1 | -1, go?: Go) => void,
): UciTransport {
  const pipeEnd = Promise.withResolvers<void>();
  const processEnd = Promise.withResolvers<ProcessEnd>();
  const options = new Map<string, string>();
  let position: readonly string[] = [];
  let end: ((said: boolean) => void) | undefined;
  let receive: (line: string) => void = () => {};
  // Answers only after the session has sent all its current commands.
  const say = (...lines: readonly string[]) =>
    queueMicrotask(() => {
      for (const line of lines) {
        receive(line);
      }
    });

  function search(go: Go): void {
    const { depth, nodes, movetimeMs, searchMoves } = go;
    const startedAt = performance.now();
    const { chess, seen } = play(position);
    const chess960 = options.get("UCI_Chess960") === "true";
    const moves = rateMoves(chess, seen, chess960)
      .filter(({ uci }) => searchMoves.length === 0 || searchMoves.includes(uci))
      .slice(0, Number(options.get("MultiPV") ?? 1));
    const plies = Math.min(depth, Math.ceil(nodes / nodesAPly));
    const print = (at: number) => {
      const timeMs = Math.max(1, Math.round(performance.now() - startedAt));
      const counters = `nodes ${nodesAPly * at} nps 1000 hashfull 0 tbhits 0 time ${timeMs}`;
      say(
        ...moves.map(({ uci, score, reply }, index) =>
          `info depth ${at} seldepth ${at} multipv ${index + 1} score ${score} wdl 300 400 300 ${counters} pv ${uci} ${reply ?? ""}`.trim(),
        ),
      );
    };
    report(1, go);
    const late = setTimeout(() => end?.(true), movetimeMs);
    end = (said) => {
      clearTimeout(late);
      end = undefined;
      report(-1);
      if (said) {
        print(Math.min(plies, quickPlies));
        say(`bestmove ${moves[0]?.uci ?? "(none)"}`);
      }
    };
    for (let at = 1; at <= Math.min(plies, quickPlies); at++) {
      print(at);
    }
    if (plies <= quickPlies) {
      end(true);
    }
  }

  function hear(line: string): void {
    const words = line.split(" ");
    switch (words[0]) {
      case "uci":
        say(...greeting);
        break;
      case "isready":
        say("readyok");
        break;
      case "setoption": {
        const [, name = "", value = ""] = /^setoption name (.+) value (.+)$/.exec(line) ?? [];
        options.set(name, value);
        break;
      }
      case "position":
        position = words;
        break;
      case "go":
        search(goFrom(words));
        break;
      case "stop":
        end?.(true);
        break;
    }
  }

  return {
    send(...lines) {
      lines.forEach(hear);
    },
    read(receiveLine) {
      receive = receiveLine;
      return pipeEnd.promise;
    },
    async kill() {
      end?.(false);
      processEnd.resolve("itself");
      pipeEnd.resolve();
    },
    ended: processEnd.promise,
    memoryBytes: () => undefined,
    processorMs: () => undefined,
  };
}
