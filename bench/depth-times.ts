/** Median time of a search by depth and by number of lines, for the estimate of `GET /price`. */

import { createWasmBackend } from "../src/engine/backends/wasm/index.ts";
import type { EngineSession, SearchJob } from "../src/engine/engine.ts";
import { noSandbox } from "../src/engine/sandbox/sandbox.ts";
import { benchPositions } from "./positions.ts";

const depths = [1, 4, 8, 10, 12, 14, 16, 18, 20];
const never = new AbortController().signal;

async function timeOf(session: EngineSession, job: SearchJob): Promise<number> {
  const { snapshot } = await session.search(job, never);
  return snapshot.counters.timeMs;
}

async function medianOf(session: EngineSession, depth: number, multipv: number): Promise<number> {
  const times: number[] = [];
  for (const position of benchPositions()) {
    times.push(
      await timeOf(session, { position, depth, multipv, movetimeMs: 60_000, options: {}, hashMb: 16 }),
    );
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

const backend = createWasmBackend({ hashMb: 16, threads: 1 }, noSandbox);
const [build] = await backend.discover(never);
if (build === undefined) {
  throw new Error("no WebAssembly engine is installed");
}
await using session = await backend.start(build, never);
await medianOf(session, 10, 1); // V8 compiles the engine's hot functions while it runs.
for (const depth of depths) {
  console.log(`depth ${depth}: median ${await medianOf(session, depth, 1)} ms`);
}
for (const multipv of [2, 3, 5, 10]) {
  console.log(`depth 12, multipv ${multipv}: median ${await medianOf(session, 12, multipv)} ms`);
}
