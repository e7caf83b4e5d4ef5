/**
 * How exactly a search ends by its `movetime_ms`: as many callers as slots, each with one request after the other and a
 * depth that is out of reach. Told, for each engine: how much later than its movetime an answer was there, counted from
 * the request, and how many came early because depth or mate had ended the search.
 *
 *     node bench/movetime.ts [searches of each engine, default 800] [slots, default as many as cores]
 */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { type EngineChoice, engineChoicesOf } from "./engine-choices.ts";
import { benchPositions } from "./positions.ts";

const searches = Number(process.argv[2] ?? 800);
const slots = Number(process.argv[3] ?? availableParallelism());
const movetimesMs = [50, 100, 250, 1000];
const depth = 30;
const goalMs = 100;
/** As many as are no multiple of the movetimes: each position meets each. */
const positions = benchPositions(19);

interface Timed {
  readonly movetimeMs: number;
  /** From the request to the last byte of the answer. */
  readonly tookMs: number;
  /** What the engine says of it. */
  readonly engineMs: number;
  readonly stopReason: string;
}

function start(engine?: string) {
  return startServer({
    PATH: process.env.PATH,
    KIBITZ_DATA_DIR: makeDataFolder(),
    KIBITZ_ACCESS: "open",
    KIBITZ_SLOTS: String(slots),
    KIBITZ_CACHE_MB: "0",
    KIBITZ_STORE_MB: "0",
    ...(engine && { KIBITZ_DEFAULT_ENGINE: engine }),
  });
}

async function timesOf(choice: EngineChoice): Promise<readonly Timed[]> {
  const server = await start(choice.engine);
  const agent = new Agent({ keepAlive: true });
  let asked = 0;

  async function ask(movetimeMs: number): Promise<Timed> {
    const at = asked++;
    // Never the same twice, or two would share a search: the number of the move differs.
    const fen = positions[at % positions.length]?.fen.replace(/\d+$/, String(1 + (at % 5000)));
    const body = JSON.stringify({ fen, depth, movetime_ms: movetimeMs, ...choice });
    const askedAt = performance.now();
    const headers = { "content-type": "application/json" };
    const call = request(`${server.url}/v1/eval`, { method: "POST", headers, agent });
    call.end(body);
    const [response] = (await once(call, "response")) as [IncomingMessage];
    const answer = await text(response);
    const tookMs = performance.now() - askedAt;
    if (response.statusCode !== 200) {
      throw new Error(`${body}: ${response.statusCode} ${answer}`);
    }
    const { search } = JSON.parse(answer);
    return { movetimeMs, tookMs, engineMs: search.time_ms, stopReason: search.stop_reason };
  }

  const callers = <T>(run: () => Promise<T>) => Promise.all(Array.from({ length: slots }, run));
  // Every slot has its engine, and V8 has compiled what is hot.
  await callers(async () => {
    for (let round = 0; round < 10; round++) {
      await ask(100);
    }
  });
  const times: Timed[] = [];
  let next = 0;
  await callers(async () => {
    while (next < searches) {
      times.push(await ask(movetimesMs[next++ % movetimesMs.length] ?? 0));
    }
  });
  agent.destroy();
  await server.stop();
  return times;
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

const told = (values: readonly number[]) =>
  [50, 95, 99, 100].map((p) => `${percentile(values, p).toFixed(1)} ms`).join(", ");

function tell({ engine, path }: EngineChoice, times: readonly Timed[]): void {
  const timed = times.filter(({ stopReason }) => stopReason === "movetime");
  const early = times.length - timed.length;
  console.log(
    `${engine}, ${path}: ${times.length} searches, ${slots} at a time; ${early} came early, ended by depth or mate`,
  );
  const row = (what: string, found: string, goal = "") =>
    console.log(`  ${what.padEnd(34)}${found.padEnd(44)}${goal}`);
  const overruns = timed.map(({ tookMs, movetimeMs }) => tookMs - movetimeMs);
  row("overrun p50, p95, p99, max", told(overruns), `p99 under ${goalMs} ms`);
  row(
    "of that by the engine's own clock",
    told(timed.map(({ engineMs, movetimeMs }) => engineMs - movetimeMs)),
  );
  for (const movetimeMs of movetimesMs) {
    const one = timed.filter((time) => time.movetimeMs === movetimeMs);
    row(
      `overrun of the ${one.length} of ${movetimeMs} ms`,
      told(one.map(({ tookMs }) => tookMs - movetimeMs)),
    );
  }
}

const listed = await start();
const choices = await engineChoicesOf(listed.url);
await listed.stop();
for (const choice of choices) {
  tell(choice, await timesOf(choice));
}
if (!choices.some(({ path }) => path === "native")) {
  console.log("native: no engine here");
}
