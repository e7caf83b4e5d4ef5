/**
 * From `kibitz serve` to ready, beside the default engine's own start to `readyok`, in turns; and
 * the memory of the server process without its engines, when ready and after 500 answers.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { discoverWasm } from "../src/engine/backends/wasm/discover.ts";
import { commandOfWasm } from "../src/engine/backends/wasm/index.ts";
import { noSandbox } from "../src/engine/sandbox/sandbox.ts";
import { type Server, startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { hashMb } from "./service/engine.ts";

const rounds = Number(process.argv[2] ?? 9);

async function startEngine(): Promise<number> {
  const [build] = await discoverWasm({ hashMb, threads: 1 }, noSandbox);
  if (build === undefined) {
    throw new Error("no WebAssembly engine is installed");
  }
  const { file, args } = commandOfWasm(build, noSandbox);
  const startedAt = performance.now();
  const child = spawn(file, args, { env: {}, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write("uci\nisready\n");
  for await (const line of createInterface(child.stdout)) {
    if (line === "readyok") {
      break;
    }
  }
  const tookMs = performance.now() - startedAt;
  child.kill("SIGKILL");
  await once(child, "exit");
  return tookMs;
}

function start(): Promise<Server> {
  return startServer({ PATH: process.env.PATH, KIBITZ_ACCESS: "open", KIBITZ_DATA_DIR: makeDataFolder() });
}

function memoryMb({ pid }: Server): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

async function ask(url: string): Promise<void> {
  const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
  const response = await fetch(`${url}/v1/bestmove`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fen, depth: 1 }),
  });
  if (!response.ok) {
    throw new Error(await response.text());
  }
  await response.text();
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const engineMs: number[] = [];
const serverMs: number[] = [];
const readyMb: number[] = [];
for (let round = 0; round < rounds; round++) {
  engineMs.push(await startEngine());
  const startedAt = performance.now();
  const server = await start();
  serverMs.push(performance.now() - startedAt);
  readyMb.push(memoryMb(server));
  await server.stop();
}
const server = await start();
for (let call = 0; call < 500; call++) {
  await ask(server.url);
}
const usedMb = memoryMb(server);
await fetch(`${server.url}/engines`).then((response) => response.text());
const listedMb = memoryMb(server);
await server.stop();

const ratio = median(serverMs) / median(engineMs);
console.log(`engine to readyok:  median ${median(engineMs).toFixed(0)} ms of ${rounds}`);
console.log(
  `server to ready:    median ${median(serverMs).toFixed(0)} ms, ${ratio.toFixed(2)} times the engine (goal: at most 1.5)`,
);
console.log(
  `server memory:      ${median(readyMb).toFixed(0)} MB ready, ${usedMb.toFixed(0)} MB after 500 answers, ${listedMb.toFixed(0)} MB after GET /engines (goal: under 120)`,
);
