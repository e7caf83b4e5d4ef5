import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { benchPositions } from "../../bench/positions.ts";
import { descendantsOf } from "../engine/processes.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { startStopwatch } from "../support/stopwatch.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** The service gets ten times as many requests as it can answer, for half a minute. */
const factor = 10;
const overloadMs = 30_000;
const capacityMs = 15_000;
/** One core is reserved for the server and this load generator. */
const slots = Math.max(1, availableParallelism() - 1);
const positions = benchPositions();
const dataDir = useTemporaryFolder();

interface Answer {
  readonly status: number;
  readonly retryAfterS: number | undefined;
  /** The response time in milliseconds. Time in which the server or the test waited for a core is subtracted. */
  readonly tookMs: number;
}

let server: Server;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  server = await startServer(
    {
      ...quickestSettings,
      KIBITZ_WASM_BUILD: "fast",
      KIBITZ_NATIVE_ENGINES: nativeStockfish() ?? "none",
      KIBITZ_SLOTS: String(slots),
      KIBITZ_CACHE_MB: "0",
      KIBITZ_DATA_DIR: dataDir,
    },
    { stdout: "ignore" },
  );
});

afterAll(async () => {
  agent.destroy();
  await server?.stop();
});

async function ask(path: string, body?: string): Promise<Answer> {
  const stopwatch = startStopwatch(process.pid, server.pid);
  const headers = { "content-type": "application/json" };
  const call = request(server.url + path, { method: body ? "POST" : "GET", headers, agent });
  call.end(body);
  const [response] = (await once(call, "response")) as [IncomingMessage];
  await text(response);
  const retryAfter = response.headers["retry-after"];
  return {
    status: response.statusCode ?? 0,
    retryAfterS: retryAfter === undefined ? undefined : Number(retryAfter),
    tookMs: stopwatch(),
  };
}

let asked = 0;

/** Each request has a new move number, because equal requests would share a search. */
function nextBody(): string {
  const { fen = "" } = positions[asked % positions.length] ?? {};
  return JSON.stringify({ fen: fen.replace(/\d+$/, String(1 + (asked++ % 9999))), depth: 14 });
}

const evaluate = (body = nextBody()) => ask("/v1/eval", body);

/** `ranMs` is the total processor time of all engines. `readyMs` also includes the time in which engines waited for a core. */
interface Engines {
  readonly ranMs: number;
  readonly readyMs: number;
}

function enginesNow(): Engines {
  const threads = descendantsOf(server.pid).flatMap((engine) =>
    readdirSync(`/proc/${engine}/task`).map((thread) =>
      readFileSync(`/proc/${engine}/task/${thread}/schedstat`, "latin1").split(" ").map(Number),
    ),
  );
  const ranMs = threads.reduce((sum, [ran = 0]) => sum + ran, 0) / 1e6;
  return { ranMs, readyMs: ranMs + threads.reduce((sum, [, waited = 0]) => sum + waited, 0) / 1e6 };
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

test("under a load of ten times the capacity, the service answers as many requests as before, and refuses the rest quickly", async () => {
  // Warm-up: the server estimates waiting times from earlier searches.
  await Promise.all(Array.from({ length: 20 }, () => evaluate()));
  const beforeCapacity = enginesNow();
  let answered = 0;
  const capacityEndsAt = performance.now() + capacityMs;
  await Promise.all(
    Array.from({ length: slots }, async () => {
      while (performance.now() < capacityEndsAt) {
        expect((await evaluate()).status).toBe(200);
        answered += performance.now() < capacityEndsAt ? 1 : 0;
      }
    }),
  );
  const afterCapacity = enginesNow();

  const offeredPerSecond = (answered / capacityMs) * 1000 * factor;
  const beganAt = performance.now();
  const endsAt = beganAt + overloadMs;
  const healthMs: number[] = [];
  const probing = (async () => {
    while (performance.now() < endsAt) {
      const health = await ask("/healthz");
      expect(health.status).toBe(200);
      healthMs.push(health.tookMs);
      await sleep(20);
    }
  })();
  const answers: Answer[] = [];
  const returned: Promise<Answer>[] = [];
  let goodput = 0;
  const offer = async () => {
    const body = nextBody();
    const answer = await evaluate(body);
    answers.push(answer);
    goodput += answer.status === 200 && performance.now() < endsAt ? 1 : 0;
    // In the last second, every tenth refused request is sent again exactly after its Retry-After. More retries would be an
    // additional load.
    if (answer.status !== 200 && performance.now() > endsAt - 1000 && answers.length % 10 === 0) {
      returned.push(sleep((answer.retryAfterS ?? 0) * 1000).then(() => evaluate(body)));
    }
  };
  const offers: Promise<void>[] = [];
  for (let dueAt = beganAt; dueAt < endsAt; dueAt += 1000 / offeredPerSecond) {
    await sleep(Math.max(0, dueAt - performance.now()));
    offers.push(offer());
  }
  const afterOverload = enginesNow();
  await probing;
  await Promise.all(offers);

  const refusals = answers.filter(({ status }) => status !== 200);
  const refusedMs = refusals.map(({ tookMs }) => tookMs);
  const perRanMs = (count: number, from: Engines, to: Engines) => count / (to.ranMs - from.ranMs);
  const readyShare = (ms: number, from: Engines, to: Engines) => (to.readyMs - from.readyMs) / ms / slots;
  const work =
    perRanMs(goodput, afterCapacity, afterOverload) / perRanMs(answered, beforeCapacity, afterCapacity);
  const busy =
    readyShare(overloadMs, afterCapacity, afterOverload) /
    readyShare(capacityMs, beforeCapacity, afterCapacity);
  console.log(
    `measured: offered ${offeredPerSecond.toFixed(0)} a second, ${goodput} answered; health p99 ${quantile(healthMs, 0.99)} ms of ${healthMs.length}; ` +
      `refusals p95 ${quantile(refusedMs, 0.95)} ms of ${refusals.length}; answers for each ms of an engine ${work}, engines busy ${busy}, times those at capacity; ` +
      `${returned.length} came back`,
  );
  expect(quantile(healthMs, 0.99)).toBeLessThan(100);
  expect(quantile(refusedMs, 0.95)).toBeLessThan(50);
  expect(refusals.length).toBeGreaterThan(answers.length / 2);
  expect(refusals.filter(({ status, retryAfterS }) => status !== 503 || !retryAfterS)).toEqual([]);
  const again = await Promise.all(returned);
  expect(again.length).toBeGreaterThan(0);
  expect(again.filter(({ status }) => status !== 200)).toEqual([]);
  // Other programs on this machine slow both phases. So the test compares two ratios: answers for each millisecond of processor
  // time, and how busy the engines were.
  expect(work).toBeGreaterThan(0.9);
  expect(busy).toBeGreaterThan(0.9);
});
