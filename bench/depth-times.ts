/** Median time of a search by depth, by number of lines and by nodes, for the estimate of `GET /price`. */

import { createWasmBackend } from "../src/engine/backends/wasm/index.ts";
import type { EngineSession, SearchJob } from "../src/engine/engine.ts";
import { noSandbox } from "../src/engine/sandbox/sandbox.ts";
import { benchPositions } from "./positions.ts";

const depths = [1, 4, 8, 10, 12, 14, 16, 18, 20];
const never = new AbortController().signal;

type Limits = Pick<SearchJob, "depth" | "nodes" | "multipv">;

async function medianOf(session: EngineSession, limits: Limits): Promise<number> {
  const times: number[] = [];
  for (const position of benchPositions()) {
    const job = { ...limits, position, movetimeMs: 60_000, searchMoves: [], options: {}, hashMb: 16 };
    const { snapshot } = await session.search(job, never);
    times.push(snapshot.counters.timeMs);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

const ofDepth = (depth: number, multipv = 1): Limits => ({ depth, nodes: undefined, multipv });

const backend = createWasmBackend({ hashMb: 16, threads: 1 }, noSandbox);
const [build] = await backend.discover(never);
if (build === undefined) {
  throw new Error("no WebAssembly engine is installed");
}
await using session = await backend.start(build, never);
await medianOf(session, ofDepth(10)); // V8 compiles the engine's hot functions while it runs.
for (const depth of depths) {
  console.log(`depth ${depth}: median ${await medianOf(session, ofDepth(depth))} ms`);
}
for (const multipv of [2, 3, 5, 10]) {
  console.log(`depth 12, multipv ${multipv}: median ${await medianOf(session, ofDepth(12, multipv))} ms`);
}
for (const nodes of [10_000, 100_000, 1_000_000]) {
  const ms = await medianOf(session, { depth: undefined, nodes, multipv: 1 });
  console.log(`${nodes} nodes: median ${ms} ms, ${Math.round(nodes / ms)} nodes a millisecond`);
}
