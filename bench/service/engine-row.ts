import { createNativeBackend } from "../../src/engine/backends/native/index.ts";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import type { EngineBackend, EngineBuild, EngineSession } from "../../src/engine/engine.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../../src/log/log.ts";
import { descendantsOf, processorMsOf } from "../../test/engine/processes.ts";
import { nativeStockfish } from "../../test/support/native-stockfish.ts";
import { benchPositions } from "../positions.ts";
import { hashMb } from "./engine.ts";
import { number, table } from "./table.ts";

const settings = { hashMb, threads: 1 };
const forever = new AbortController().signal;
const [depth, shallowDepth, positionCount] = [16, 14, 10];

interface Started {
  readonly build: EngineBuild;
  readonly session: EngineSession;
  readonly pid: number;
  nodes: number;
  deepMs: number;
  shallowMs: number;
}

/** Measures every build of this machine with the same positions, one search after another, in turns. */
export async function measureEngines(): Promise<string> {
  const file = nativeStockfish();
  const native = createNativeBackend(
    settings,
    { files: file === undefined ? [] : [file], searchPath: "", dataHome: undefined, described: [] },
    noSandbox,
    silentLog,
  );
  const fast = createWasmBackend(settings, noSandbox);
  const npm = createWasmBackend(settings, noSandbox, undefined, { fast: false });
  const engines = [...(await startAll(native)), ...(await startAll(fast)), ...(await startAll(npm))];
  for (const position of benchPositions(positionCount)) {
    for (const engine of engines) {
      engine.shallowMs += await processorMsOfSearch(engine, position, shallowDepth);
      engine.deepMs += await processorMsOfSearch(engine, position, depth);
    }
  }
  await Promise.all(engines.map(({ session }) => session[Symbol.asyncDispose]()));
  return table(
    ["", "nodes a second", `ms to depth ${shallowDepth}`, "nodes"],
    engines.map(({ build, nodes, deepMs, shallowMs }) => [
      `${build.id}, ${build.path === "native" ? "native" : build.slowerBecause === undefined ? "WebAssembly" : "WebAssembly, package stockfish"}`,
      number((nodes / deepMs) * 1000),
      number(shallowMs / positionCount),
      number(nodes),
    ]),
  );
}

async function startAll(backend: EngineBackend): Promise<readonly Started[]> {
  const started: Started[] = [];
  for (const build of await backend.discover(forever)) {
    const before = descendantsOf(process.pid);
    const session = await backend.start(build, forever);
    const pid = descendantsOf(process.pid).find((one) => !before.includes(one)) ?? 0;
    started.push({ build, session, pid, nodes: 0, deepMs: 0, shallowMs: 0 });
  }
  return started;
}

/** Returns the processor time of a search, without the cleaning after the search. */
async function processorMsOfSearch(
  engine: Started,
  position: Parameters<EngineSession["search"]>[0]["position"],
  plies: number,
): Promise<number> {
  const limits = { depth: plies, nodes: undefined, movetimeMs: 600_000 };
  const job = { position, ...limits, multipv: 1, searchMoves: [], options: {} };
  await engine.session.ready(forever);
  const before = processorMsOf(engine.pid);
  const { snapshot } = await engine.session.search(job, forever);
  const took = processorMsOf(engine.pid) - before;
  engine.nodes += plies === depth ? snapshot.counters.nodes : 0;
  return took;
}
