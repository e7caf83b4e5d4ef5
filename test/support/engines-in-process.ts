import type { EngineBackend, EngineBuild } from "../../src/engine/engine.ts";
import { createUciSession } from "../../src/engine/uci/session.ts";
import type { ProcessEnd, UciTransport } from "../../src/engine/uci/transport.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { buildOf } from "../engine/build-of.ts";
import { type Go, goFrom } from "./fake-engine/go.ts";
import { play, rateMoves } from "./fake-engine/moves.ts";
import { stockfishOptions } from "./fake-engine/stockfish-options.ts";

/**
 * Engines that speak UCI like real engines but live in this process: they start at once, need no processor, and report their
 * searches. For tests of the layers in front of the engines.
 */
export interface EnginesInProcess extends EngineBackend {
  /** The number of searches that have received `go` and have not sent `bestmove` yet. */
  readonly searching: number;
  /** The number of searches that have received `go` so far. */
  readonly begun: number;
  /** The limits of the newest search. */
  readonly newest: Go | undefined;
}

export interface EnginesInProcessOptions {
  /** The depth in plies that is reached at once. A deeper search runs until its time is up or it is stopped. */
  readonly quickPlies?: number;
  /** The number of nodes that a search reports for each ply. */
  readonly nodesAPly?: number;
  /** The pretended SHA-256 of the engine's file. */
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
  const tell = (change: 1 | -1, go?: Go) => {
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
      createUciSession(build.settings, createEngine(quickPlies, nodesAPly, tell), defaultWatchTimes, signal),
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

/**
 * Creates one UCI engine.
 * @param tell called with 1 and the limits when a search begins, and with -1 when a search ends
 */
function createEngine(
  quickPlies: number,
  nodesAPly: number,
  tell: (change: 1 | -1, go?: Go) => void,
): UciTransport {
  const pipeEnd = Promise.withResolvers<void>();
  const processEnd = Promise.withResolvers<ProcessEnd>();
  const options = new Map<string, string>();
  let position: readonly string[] = [];
  /** Ends the current search. */
  let end: ((said: boolean) => void) | undefined;
  let receive: (line: string) => void = () => {};
  // Not before the session has sent what it is sending.
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
    tell(1, go);
    const late = setTimeout(() => end?.(true), movetimeMs);
    end = (said) => {
      clearTimeout(late);
      end = undefined;
      tell(-1);
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
