/**
 * Positions a minute of the service, all slots busy, beside the same number of bare engines that are given the
 * same commands (a new game before each search): the same 20 positions, in turns within one run. For
 * WebAssembly, and for native where there is one.
 *
 *     node bench/throughput.ts [seconds a cell, default 20] [depths, default 14,8,1] [slots, default as configured]
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createLocalAccess } from "../src/access/access.ts";
import type { JudgedRequest } from "../src/analysis/analysis.ts";
import { commandOfWasm } from "../src/engine/backends/wasm/index.ts";
import type { EngineBuild } from "../src/engine/engine.ts";
import { noSandbox } from "../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../src/log/log.ts";
import { loadConfig } from "../src/wiring/config.ts";
import { openEngines } from "../src/wiring/engines.ts";
import { createService } from "../src/wiring/service.ts";
import { benchPositions } from "./positions.ts";

const seconds = Number(process.argv[2] ?? 20);
const depths = (process.argv[3] ?? "14,8,1").split(",").map(Number);
const callers = 8;
const turnMs = 6000;
const positions = benchPositions();
const never = new AbortController().signal;

const config = loadConfig({
  PATH: process.env.PATH,
  // What is measured is searches, not answers from the cache.
  KIBITZ_CACHE_MB: "0",
  ...(process.argv[4] && { KIBITZ_SLOTS: process.argv[4] }),
});
const room = await openEngines(config, silentLog, never);
const { analyzer } = createService(room, await createLocalAccess(), config, silentLog);

/** An engine without anything around it. */
interface BareEngine {
  readonly process: ChildProcess;
  search(fen: string, depth: number): Promise<void>;
}

async function startBare(build: EngineBuild): Promise<BareEngine> {
  const { file, args } =
    build.path === "wasm" ? commandOfWasm(build, noSandbox) : { file: build.file, args: [] };
  const child = spawn(file, args, { env: {}, stdio: ["pipe", "pipe", "ignore"] });
  let awaited = "";
  let heard = "";
  let wake = () => {};
  child.stdout.setEncoding("latin1");
  child.stdout.on("data", (text: string) => {
    // Only the last line counts, which may come in two pieces.
    heard = (heard + text).slice(-4096);
    if (heard.includes(awaited)) {
      heard = "";
      wake();
    }
  });
  const exchange = (commands: string, until: string): Promise<void> => {
    awaited = until;
    return new Promise((resolve) => {
      wake = resolve;
      child.stdin.write(commands);
    });
  };
  const { hashMb, threads } = build.settings;
  await exchange(
    `uci\nsetoption name Threads value ${threads}\nsetoption name Hash value ${hashMb}\nsetoption name UCI_ShowWDL value true\nisready\n`,
    "readyok",
  );
  return {
    process: child,
    search: (fen, depth) =>
      exchange(`ucinewgame\nposition fen ${fen}\ngo depth ${depth} movetime 60000\n`, "bestmove"),
  };
}

/** Milliseconds for a number of searches, through the positions in turn, by so many at a time. */
async function timeOf(
  searches: number,
  workers: number,
  search: (index: number, worker: number) => Promise<unknown>,
) {
  const startedAt = performance.now();
  let next = 0;
  const work = Array.from({ length: workers }, async (_, worker) => {
    while (next < searches) {
      await search(next++, worker);
    }
  });
  await Promise.all(work);
  return performance.now() - startedAt;
}

const positionAt = (index: number) => {
  const position = positions[index % positions.length];
  if (position === undefined) {
    throw new Error("no positions");
  }
  return position;
};

async function compare(build: EngineBuild, bare: readonly BareEngine[], depth: number): Promise<void> {
  const asked: Omit<JudgedRequest, "position" | "movetimeMs"> = {
    build,
    depth,
    nodes: undefined,
    multipv: 1,
    searchMoves: [],
    options: {},
    effectiveOptions: {},
    weakened: false,
    warnings: [],
  };
  const served = (searches: number) =>
    timeOf(searches, callers, (index, caller) => {
      // A movetime of its own for each caller, so that no two share a search.
      const request = { ...asked, position: positionAt(index), movetimeMs: 60_000 - caller };
      return analyzer.analyze(request, `caller ${caller}`, never);
    });
  const direct = (searches: number) =>
    timeOf(searches, bare.length, async (index, worker) =>
      bare[worker]?.search(positionAt(index).fen, depth),
    );

  // Once for the engines to warm up, and to see how much work a turn is: long, because at its end one engine
  // idles until the last search of the other is over.
  await served(positions.length);
  const onceMs = await direct(positions.length);
  const searches = positions.length * Math.max(1, Math.round(turnMs / onceMs));
  const total = { served: 0, direct: 0, turns: 0 };
  while (total.served + total.direct < seconds * 1000) {
    // Who comes first changes: what else the machine does must not favour one of them.
    if (total.turns++ % 2 === 0) {
      total.served += await served(searches);
      total.direct += await direct(searches);
    } else {
      total.direct += await direct(searches);
      total.served += await served(searches);
    }
  }
  const perMinute = (ms: number) => Math.round((searches * total.turns * 60_000) / ms);
  console.log(
    `${build.id} ${build.path}, depth ${depth}: ${perMinute(total.served)} a minute, bare ${perMinute(total.direct)}: ${((100 * total.direct) / total.served).toFixed(1)} % (goal ${depth < 14 ? 90 : 97} %)`,
  );
}

for (const path of ["wasm", "native"] as const) {
  const resolution = room.catalog.resolve("latest", path);
  if (resolution.kind !== "build") {
    console.log(`${path}: no engine here`);
    continue;
  }
  const { build } = resolution;
  const bare = await Promise.all(Array.from({ length: config.slots }, () => startBare(build)));
  for (const depth of depths) {
    await compare(build, bare, depth);
  }
  for (const engine of bare) {
    engine.process.kill("SIGKILL");
  }
}
await room[Symbol.asyncDispose]();
