/**
 * Engines that are killed and suspended at random under load, native and WebAssembly ones, busy, idle or just
 * starting. Told: requests that were lost, how long another engine takes to be ready, processes that were left.
 *
 *     node bench/kills.ts [kills, default 1000] [milliseconds between two, default 300] [seed, default 1] [engine, default stockfish-19]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { descendantsOf, stillRunning } from "../test/engine/processes.ts";
import { createRandom } from "../test/support/random.ts";
import { startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { benchPositions } from "./positions.ts";

const killsMax = Number(process.argv[2] ?? 1000);
const everyMs = Number(process.argv[3] ?? 300);
const random = createRandom(Number(process.argv[4] ?? 1));
/** The WebAssembly one, and the server's default. */
const engine = process.argv[5] ?? "stockfish-19";
const callers = 4;
/** So many more engines than answers: on a machine that is busy otherwise, engines would all die before they are ready. */
const aheadMax = 4;
const goalMs: Readonly<Record<string, number>> = { native: 500, wasm: 1500 };

/** From the start of an engine until it is ready, by path. */
const readyMs = new Map<string, number[]>();
/** What became of engines, by kind. */
const failures = new Map<string, number>();

const { url, pid, stop } = await startServer(
  {
    PATH: process.env.PATH,
    KIBITZ_ACCESS: "open",
    KIBITZ_DEFAULT_ENGINE: engine,
    KIBITZ_SLOTS: "2",
    KIBITZ_CACHE_MB: "0",
    KIBITZ_STORE_MB: "0",
    // Whoever waits is not lost.
    KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
    KIBITZ_LOG_LEVEL: "debug",
    KIBITZ_DATA_DIR: makeDataFolder(),
  },
  { onLog: note },
);

function note(line: string): void {
  const { msg, path, ms, kind } = JSON.parse(line);
  if (msg === "engine started") {
    readyMs.set(path, [...(readyMs.get(path) ?? []), ms]);
  } else if (
    msg === "engine failed" ||
    msg === "search tried again" ||
    msg === "engine could not be started"
  ) {
    const what = kind === undefined ? msg : `${msg}: ${kind}`;
    failures.set(what, (failures.get(what) ?? 0) + 1);
  }
}

const { engines } = (await (await fetch(`${url}/engines`)).json()) as {
  engines: { id: string; paths: { path: string }[] }[];
};
/** That engine, and a native one where there is one. */
const choices = [
  { engine, path: "wasm" },
  ...engines
    .filter(({ paths }) => paths.some(({ path }) => path === "native"))
    .slice(0, 1)
    .map(({ id }) => ({ engine: id, path: "native" })),
];
const positions = benchPositions();

let asked = 0;
let answered = 0;
const lost: string[] = [];
let longestMs = 0;

async function ask(): Promise<void> {
  const { engine, path } = random.pick(choices);
  const fen = random.pick(positions).fen.replace(/\d+$/, String(1 + (asked++ % 5000)));
  const request = { fen, engine, path, depth: 10 + random.below(5), multipv: 1 + random.below(3) };
  const call = random.pick(["eval", "bestmove", "eval/stream"]);
  const askedAt = performance.now();
  try {
    const response = await fetch(`${url}/v1/${call}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    const body = await response.text();
    const whole = call === "eval/stream" ? body.includes("event: done") : JSON.parse(body).best_move !== null;
    if (response.status !== 200 || !whole) {
      throw new Error(`${response.status} ${body.slice(-400)}`);
    }
    answered++;
  } catch (error) {
    lost.push(`${call} ${JSON.stringify(request)}: ${error}`);
  }
  longestMs = Math.max(longestMs, performance.now() - askedAt);
}

const seen = new Set<number>();
const hurt = { SIGKILL: 0, SIGSTOP: 0 };
let over = false;
const load = Promise.all(
  Array.from({ length: callers }, async () => {
    while (!over) {
      await ask();
    }
  }),
);
for (let kills = 0; kills < killsMax; ) {
  await sleep(everyMs / 2 + random.below(everyMs));
  const victims = descendantsOf(pid);
  victims.forEach((victim) => void seen.add(victim));
  if (victims.length === 0 || kills > answered + aheadMax) {
    continue;
  }
  const signal = random.below(4) === 0 ? "SIGSTOP" : "SIGKILL";
  try {
    process.kill(random.pick(victims), signal);
    hurt[signal]++;
    kills++;
  } catch {
    // It was gone by then.
  }
  if (kills % 100 === 0) {
    console.log(`${kills} hurt, ${answered} answered, ${lost.length} lost`);
  }
}
over = true;
await load;
descendantsOf(pid).forEach((engine) => void seen.add(engine));
const code = await stop();
await sleep(200);
const left = stillRunning([...seen]);

const at = (values: readonly number[], percent: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor((values.length * percent) / 100))];
console.log(
  `${hurt.SIGKILL} killed, ${hurt.SIGSTOP} suspended; ${answered} of ${asked} requests answered with 200`,
);
console.log(`lost: ${lost.length} (goal: 0)`);
for (const one of lost.slice(0, 20)) {
  console.log(`  ${one}`);
}
for (const [path, values] of readyMs) {
  console.log(
    `another ${path} engine ready after p50 ${at(values, 50)} ms, p95 ${at(values, 95)} ms, max ${at(values, 100)} ms of ${values.length} (goal: under ${goalMs[path]} ms)`,
  );
}
console.log(`slowest answer: ${(longestMs / 1000).toFixed(1)} s`);
console.log([...failures].map(([what, count]) => `${count} × ${what}`).join("\n"));
// Both are promises; the times depend on what else the machine does.
process.exitCode = lost.length === 0 && left.length === 0 && code === 0 ? 0 : 1;
console.log(`exit code ${code}, processes left: ${left.length} (goal: 0)`);
