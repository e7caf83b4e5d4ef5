/**
 * A depth-1 answer through `POST /v1/bestmove`, beside the same commands (new game, position, go) given
 * to the engine directly: one after the other, in turns, on the same kind of engine.
 */
import { spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { createInterface } from "node:readline";
import { discoverWasm } from "../src/engine/backends/wasm/discover.ts";
import { commandOfWasm } from "../src/engine/backends/wasm/index.ts";
import { noSandbox } from "../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../src/log/log.ts";
import { startApp } from "../src/wiring/app.ts";
import { loadConfig } from "../src/wiring/config.ts";
import { openEngines } from "../src/wiring/engines.ts";
import { makeDataFolder } from "./data-folder.ts";
import { benchPositions } from "./positions.ts";

const rounds = Number(process.argv[2] ?? 20);
const never = new AbortController().signal;

// Without the cache: the same positions come again, and an answer that is kept asks no engine.
const config = loadConfig({
  KIBITZ_PORT: "0",
  KIBITZ_NATIVE_ENGINES: "none",
  KIBITZ_CACHE_MB: "0",
  KIBITZ_STORE_MB: "0",
  KIBITZ_ACCESS: "open",
  KIBITZ_DATA_DIR: makeDataFolder(),
});
const app = await startApp(config, silentLog, openEngines(config, silentLog, never));
const agent = new Agent({ keepAlive: true });

function askServer(fen: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const call = request(`${app.url}/v1/bestmove`, { method: "POST", headers, agent }, (response) => {
      response.resume();
      response.on("end", resolve);
    });
    call.on("error", reject);
    call.end(JSON.stringify({ fen, depth: 1 }));
  });
}

const [build] = await discoverWasm({ hashMb: 16, threads: 1 }, noSandbox);
if (build === undefined) {
  throw new Error("no WebAssembly engine is installed");
}
const { file, args } = commandOfWasm(build, noSandbox);
const engine = spawn(file, args, { env: {}, stdio: ["pipe", "pipe", "ignore"] });
const lines = createInterface(engine.stdout)[Symbol.asyncIterator]();
async function until(word: string): Promise<void> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done || String(value).startsWith(word)) {
      return;
    }
  }
}
engine.stdin.write("uci\nsetoption name UCI_ShowWDL value true\nisready\n");
await until("readyok");

async function askEngine(fen: string): Promise<void> {
  engine.stdin.write(`ucinewgame\nposition fen ${fen}\ngo depth 1 movetime 60000\n`);
  await until("bestmove");
}

async function timed(run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const direct: number[] = [];
const served: number[] = [];
for (let round = -5; round < rounds; round++) {
  for (const { fen } of benchPositions()) {
    const [engineMs, serverMs] = [await timed(() => askEngine(fen)), await timed(() => askServer(fen))];
    // The first rounds are for V8 to compile the hot functions on both sides.
    if (round >= 0) {
      direct.push(engineMs);
      served.push(serverMs);
    }
  }
}
engine.kill("SIGKILL");
agent.destroy();
await app.stop();

const over = median(served) - median(direct);
console.log(`engine directly: median ${median(direct).toFixed(2)} ms of ${direct.length}`);
console.log(
  `/v1/bestmove:    median ${median(served).toFixed(2)} ms, ${over.toFixed(2)} ms over the engine (goal: at most 1)`,
);
