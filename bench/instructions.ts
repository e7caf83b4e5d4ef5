/**
 * What a request costs the server in instructions, which hardly depend on what else the machine does: beside the least
 * service (searches) or a bare `node:http` (a cached answer), and beside other checkouts. In turns by round, after a
 * while in which V8 compiles. Beside them processor cycles and the processor time, which do depend on it.
 *
 * Needs Linux's `perf` (Debian: linux-perf), a processor whose counters it may read, and what `npm run bench` needs. Counts
 * all threads: collecting garbage and compiling, too.
 *
 *     node bench/instructions.ts [--depth 1 | --cached] [--callers 8] [--rounds 5] [--seconds 3] [--warm 15] [--open]
 *         [--beside <checkout>]...
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makeDataFolder } from "./data-folder.ts";
import { askedTwice } from "./service/cached.ts";
import { nativeEngine } from "./service/engine.ts";
import type { Load } from "./service/peer.ts";
import { startKibitz } from "./service/peers/kibitz.ts";
import { least, startProgram } from "./service/peers/programs.ts";
import { createQuestionBook, mostPerSecond } from "./service/questions.ts";
import { loadByWrk } from "./service/wrk.ts";
import { cpuTimesOf } from "./vital-signs.ts";

const { values } = parseArgs({
  options: {
    depth: { type: "string", default: "1" },
    cached: { type: "boolean", default: false },
    callers: { type: "string", default: "8" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "3" },
    warm: { type: "string", default: "15" },
    open: { type: "boolean", default: false },
    beside: { type: "string", multiple: true, default: [] },
  },
});
const [depth, callers, rounds, seconds, warmSeconds] = [
  values.depth,
  values.callers,
  values.rounds,
  values.seconds,
  values.warm,
].map(Number) as [number, number, number, number, number];

const counters = ["instructions:u", "instructions:k", "cycles:u", "cycles:k"] as const;

/** Of one request. */
interface Cost {
  /** As {@link counters}, in thousands. */
  readonly counted: readonly number[];
  readonly cpuUs: number;
}

interface Runner {
  readonly name: string;
  readonly pid: number;
  load(load: Load): Promise<{ readonly requests: number }>;
  stop(): Promise<unknown>;
}

async function costOf({ pid, load }: Runner, asked: Load): Promise<Cost> {
  const perf = spawn("perf", ["stat", "-x", ",", "-e", counters.join(), "-p", String(pid)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let told = "";
  perf.stderr.on("data", (chunk: Buffer) => {
    told += chunk;
  });
  await sleep(300);
  const before = cpuTimesOf(pid).ownMs;
  const { requests } = await load(asked);
  const cpuUs = ((cpuTimesOf(pid).ownMs - before) * 1000) / requests;
  const closed = once(perf, "close");
  perf.kill("SIGINT");
  await closed;
  const counted = told
    .trim()
    .split("\n")
    .map((line) => Number(line.split(",")[0]) / requests / 1000);
  if (counted.length !== counters.length || counted.some(Number.isNaN)) {
    throw new Error(`perf has not counted: ${told}`);
  }
  return { counted, cpuUs };
}

const folder = makeDataFolder();
const engine = await nativeEngine();
const settings = { engine, slots: 2, python: "python3", folder };
const question = { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", depth: 14 };
const questionFile = join(folder, "question.json");
writeFileSync(questionFile, JSON.stringify(question));
const book = createQuestionBook(folder);

const runners: Runner[] = [];
let answer = "";
const checkouts = [undefined, ...values.beside];
for (const checkout of checkouts) {
  const started = await startKibitz(settings, {
    settings: values.open ? { KIBITZ_ACCESS: "open" } : {},
    ...(checkout !== undefined && { checkout }),
  });
  if (values.cached) {
    answer = await askedTwice(started.server.url, question, started.headers);
  }
  const { load, stop } = started;
  runners.push({ name: checkout ?? "Kibitz", pid: started.server.pid, load, stop });
}
if (values.cached) {
  const { pid, url, stop } = await startProgram(process.execPath, "echo.ts", [], folder, answer);
  const load = (asked: Load) => loadByWrk({ ...asked, url, headers: {} });
  runners.unshift({ name: "bare node:http", pid, load, stop });
} else {
  const { pid = 0, load, stop } = await least.start(settings);
  runners.unshift({ name: "least", pid, load, stop });
}

function loadFor(duration: number): Load {
  const file = values.cached
    ? questionFile
    : book.write(Math.ceil(duration * mostPerSecond(depth)), (nextFen) => ({ fen: nextFen(), depth }));
  return { file, callers, seconds: duration, repeats: values.cached };
}

const costs = new Map(runners.map(({ name }): [string, Cost[]] => [name, []]));
try {
  for (const { load } of runners) {
    await load(loadFor(warmSeconds));
  }
  for (let round = 0; round < rounds; round++) {
    const asked = loadFor(seconds);
    for (const runner of round % 2 === 0 ? runners : runners.toReversed()) {
      costs.get(runner.name)?.push(await costOf(runner, asked));
    }
  }
} finally {
  await Promise.all(runners.map(({ stop }) => stop()));
}

const median = (all: readonly number[]) =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
const instructions = ({ counted }: Cost) => (counted[0] ?? 0) + (counted[1] ?? 0);
const cycles = ({ counted }: Cost) => (counted[2] ?? 0) + (counted[3] ?? 0);
const first = [...costs.values()][0] ?? [];
const told = (costOfEach: readonly Cost[], of: (cost: Cost) => number, digits = 0) => {
  const ratio = median(costOfEach.map((cost, round) => of(cost) / of(first[round] ?? cost)));
  return `${median(costOfEach.map(of)).toFixed(digits)} (× ${ratio.toFixed(2)})`;
};
console.log(
  values.cached ? "a cached answer" : `new questions at depth ${depth}`,
  `${callers} callers, a request:`,
);
for (const [name, all] of costs) {
  console.log(
    `${name}: ${told(all, instructions)} thousand instructions, ${told(all, cycles)} thousand cycles,`,
    `${told(all, ({ cpuUs }) => cpuUs)} µs`,
  );
}
