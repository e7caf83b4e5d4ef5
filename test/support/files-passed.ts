import { openSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { WriteStream } from "node:tty";
import { fileURLToPath } from "node:url";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createLog } from "../../src/log/create-log.ts";
import { createEventLoopLag } from "../../src/thread/event-loop.ts";
import { startApp } from "../../src/wiring/app.ts";
import { loadConfig } from "../../src/wiring/config.ts";
import { openEngines } from "../../src/wiring/engines.ts";
import { quickestSettings } from "./quickest-settings.ts";

/**
 * Which files of `src/` a call passes that asks an engine: those of which a function runs between the request and the
 * answer, by V8's own count. Run in a process of its own, as Node runs the sources; prints JSON.
 */

/** The files of one kind of call: of every such call, and of at least one, timers that ran meanwhile included. */
interface FilesPassed {
  readonly always: readonly string[];
  readonly ever: readonly string[];
}

const source = fileURLToPath(new URL("../../src/", import.meta.url));

/** Positions that the cache does not know: each call asks about others. */
const boards = [
  "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R",
  "rnbqkbnr/pp1ppppp/8/2p5/4P3/5N2/PPPP1PPP/RNBQKB1R",
  "rnbqkb1r/pppp1ppp/4pn2/8/2PP4/8/PP2PPPP/RNBQKBNR",
];

const config = loadConfig({
  ...quickestSettings,
  KIBITZ_ACCESS: "public",
  KIBITZ_SLOTS: "1",
  // As by default.
  KIBITZ_STORE_MB: undefined,
  KIBITZ_DATA_DIR: process.argv[2],
});
const nowhere = { fd: openSync("/dev/null", "w"), isTTY: false } as WriteStream & { readonly fd: number };
const log = await createLog("info", nowhere);
// Asked whether the thread is late, as every call asks it; but on a busy machine it may be, and no call is to be refused.
const lag = createEventLoopLag({ lastingMs: Number.POSITIVE_INFINITY });
const app = await startApp(config, log, openEngines(config, log, new AbortController().signal), { lag });
const client = createClient(AnalysisService, createGrpcTransport({ baseUrl: app.url }));

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** Files of which a function has run since this was last asked. */
async function filesRun(): Promise<ReadonlySet<string>> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const run = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
  return new Set(
    run
      .filter(({ url }) => url.startsWith("file:"))
      .map(({ url }) => fileURLToPath(url))
      .filter((file) => file.startsWith(source))
      .map((file) => file.slice(source.length)),
  );
}

async function filesPassed(clock: number, ask: (fen: string) => Promise<unknown>): Promise<FilesPassed> {
  const runs: ReadonlySet<string>[] = [];
  await ask(`${boards[0]} w KQkq - ${clock} 9`);
  for (const board of boards) {
    // What the one before has left to be done is done, and its line written.
    await sleep(300);
    await filesRun();
    await ask(`${board} b KQkq - ${clock} 3`);
    await sleep(100);
    runs.push(await filesRun());
  }
  const ever = runs.reduce((all, run) => all.union(run));
  const always = runs.reduce((all, run) => all.intersection(run));
  return { always: [...always].toSorted(), ever: [...ever].toSorted() };
}

async function askJson(fen: string): Promise<void> {
  const response = await fetch(`${app.url}/v1/eval`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ fen, depth: 8 }),
  });
  const { search } = (await response.json()) as { search?: { cached: boolean } };
  if (search?.cached !== false) {
    throw new Error(`no engine was asked about ${fen}`);
  }
}

async function askGrpc(fen: string): Promise<void> {
  const { search } = await client.evaluate({ fen, depth: 8 });
  if (search?.cached !== false) {
    throw new Error(`no engine was asked about ${fen}`);
  }
}

const passed = { JSON: await filesPassed(0, askJson), gRPC: await filesPassed(1, askGrpc) };
session.disconnect();
await app.stop();
console.log(JSON.stringify(passed));
