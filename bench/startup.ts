/** Compares the start of the service with the start of the engine alone. Usage: `node bench/startup.ts [rounds, default 9]`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { makeDataFolder } from "./data-folder.ts";
import { type BenchEngine, wasmEngine } from "./service/engine.ts";
import { quantile } from "./service/statistics.ts";

const rounds = Number(process.argv[2] ?? 9);
const readyGoalMs = 2000;

/** Returns the milliseconds until a line matches. Then kills the command and all its child processes. */
async function timeUntil(
  line: RegExp,
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input?: string,
): Promise<number> {
  const begun = performance.now();
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "ignore"], detached: true });
  const exited = once(child, "exit");
  if (input !== undefined) {
    child.stdin.write(input);
  }
  try {
    for await (const printed of createInterface(child.stdout)) {
      if (line.test(printed)) {
        return performance.now() - begun;
      }
    }
    throw new Error(`${file} ended before it printed ${line}`);
  } finally {
    process.kill(-(child.pid ?? 0), "SIGKILL");
    await exited;
  }
}

function startEngine({ command: { file, args } }: BenchEngine): Promise<number> {
  return timeUntil(/^readyok/, file, args, {}, "uci\nisready\n");
}

function npmStart(): Promise<number> {
  const { PATH, HOME } = process.env;
  const settings = { KIBITZ_PORT: "0", KIBITZ_METRICS_PORT: "0", KIBITZ_DATA_DIR: makeDataFolder() };
  return timeUntil(/"msg":"ready/, "npm", ["start"], { PATH, HOME, ...settings });
}

const engine = await wasmEngine();
const engineMs: number[] = [];
const readyMs: number[] = [];
// Ignore the first round, because it fills the compile cache and the page cache.
for (let round = 0; round <= rounds; round++) {
  const [engineTook, serverTook] = [await startEngine(engine), await npmStart()];
  if (round > 0) {
    engineMs.push(engineTook);
    readyMs.push(serverTook);
  }
}

const shown = (values: readonly number[]) => {
  const sorted = values.toSorted((a, b) => a - b);
  const [median, least, most] = [0.5, 0, 1].map((share) => quantile(sorted, share).toFixed(0));
  return `median ${median} ms (${least} to ${most}) of ${values.length}`;
};
console.log(`engine to readyok:  ${shown(engineMs)}`);
console.log(`npm start to ready: ${shown(readyMs)} (goal: at most ${readyGoalMs} on two idle cores)`);
