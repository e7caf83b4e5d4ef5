/**
 * Ten times as much as the service can do. Its capacity is measured first, with as many callers as slots; then ten
 * times that is offered, come what may, over HTTP/1.1 and HTTP/2. Told: how long health and refusals take, whether
 * Retry-After is true, and how much of the capacity is still answered. The server is a process of its own.
 *
 * Server, engines and this load share one machine: with a slot for every core the load takes from the engines what
 * elsewhere would be another machine's. So one core is left to it by default; it is told who took how much.
 *
 *     node bench/overload.ts [seconds of overload, default 30] [depth, default 14] [path, default auto] [slots]
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { benchPositions } from "./positions.ts";

const overloadS = Number(process.argv[2] ?? 30);
const depth = Number(process.argv[3] ?? 14);
const path = process.argv[4] ?? "auto";
const capacityS = 15;
const factor = 10;
const slots = Number(process.argv[5] ?? Math.max(1, availableParallelism() - 1));

const { url, pid, stop } = await startServer(
  {
    PATH: process.env.PATH,
    KIBITZ_ACCESS: "open",
    KIBITZ_SLOTS: String(slots),
    // What is measured is searches, not answers from the cache.
    KIBITZ_CACHE_MB: "0",
    KIBITZ_STORE_MB: "0",
    KIBITZ_DATA_DIR: makeDataFolder(),
  },
  { stdout: "ignore" },
);

interface Answer {
  readonly status: number;
  readonly retryAfterS: number | undefined;
  readonly tookMs: number;
}

type Ask = (body: string) => Promise<Answer>;

const http1 = new Agent({ keepAlive: true });
const headers = { "content-type": "application/json" };

function retryAfterOf(field: unknown): number | undefined {
  return field === undefined ? undefined : Number(field);
}

const askHttp1: Ask = async (body) => {
  const askedAt = performance.now();
  const call = request(`${url}/v1/eval`, { method: "POST", headers, agent: http1 });
  call.end(body);
  const [response] = (await once(call, "response")) as [IncomingMessage];
  await text(response);
  const { statusCode: status = 0 } = response;
  return {
    status,
    retryAfterS: retryAfterOf(response.headers["retry-after"]),
    tookMs: performance.now() - askedAt,
  };
};

/** Each connection takes a hundred calls at a time. */
function createHttp2Callers(count: number): Ask & { close(): void } {
  const sessions: ClientHttp2Session[] = [];
  let next = 0;
  /** Opened when it is needed: the server ends one that makes no call, or has made none for a while. */
  const sessionAt = (place: number): ClientHttp2Session => {
    const open = sessions[place];
    if (open && !open.closed && !open.destroyed) {
      return open;
    }
    const session = connect(url);
    sessions[place] = session;
    return session;
  };
  const ask: Ask = async (body) => {
    const askedAt = performance.now();
    const call = sessionAt(next++ % count).request({ ...headers, ":method": "POST", ":path": "/v1/eval" });
    call.end(body);
    const [response] = await once(call, "response");
    await text(call);
    const status = Number(response[":status"]);
    return {
      status,
      retryAfterS: retryAfterOf(response["retry-after"]),
      tookMs: performance.now() - askedAt,
    };
  };
  const close = () => {
    for (const session of sessions) {
      session?.close();
    }
  };
  return Object.assign(ask, { close });
}

const positions = benchPositions();
let asked = 0;

/** Never the same twice, or two would share a search: the number of the move differs. */
function nextBody(): string {
  const at = asked++;
  const fen = positions[at % positions.length]?.fen.replace(
    /\d+$/,
    String(1 + Math.floor(at / positions.length)),
  );
  return JSON.stringify({ fen, depth, path });
}

/** Ticks of the processor, of which Linux counts a hundred a second. */
interface Ticks {
  readonly all: number;
  readonly engines: number;
  readonly server: number;
  readonly load: number;
}

function ticksOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

/** Those of Linux say what else the machine did meanwhile: without that, two rates cannot be compared. */
function ticksNow(): Ticks {
  const [, user, nice, system, , , irq, softirq, steal] = readFileSync("/proc/stat", "latin1")
    .split(/\s+/)
    .map(Number);
  const all = [user, nice, system, irq, softirq, steal].reduce<number>((sum, ticks) => sum + (ticks ?? 0), 0);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim().split(" ");
  const engines = children.reduce((sum, child) => sum + ticksOf(Number(child)), 0);
  return { all, engines, server: ticksOf(pid), load: ticksOf(process.pid) };
}

/** In percent of one core. Returns the seconds of processor that the engines had. */
function tellTicks(phase: string, before: Ticks, seconds: number): number {
  const now = ticksNow();
  const spent = (key: keyof Ticks) => (now[key] - before[key]) / seconds;
  const others = spent("all") - spent("engines") - spent("server") - spent("load");
  const percent = (ticks: number) => `${Math.round(ticks)} %`;
  console.log(
    `${phase}: engines ${percent(spent("engines"))} of a core, server ${percent(spent("server"))}, this load ${percent(spent("load"))}, all other programs ${percent(others)}`,
  );
  return (now.engines - before.engines) / 100;
}

/** A stretch of time, in which answers are counted when they come. */
async function measureCapacity(): Promise<number> {
  const endsAt = performance.now() + capacityS * 1000;
  let answered = 0;
  const caller = async () => {
    while (performance.now() < endsAt) {
      const { status } = await askHttp1(nextBody());
      if (status !== 200) {
        throw new Error(`refused with ${status} below capacity`);
      }
      answered += performance.now() < endsAt ? 1 : 0;
    }
  };
  await Promise.all(Array.from({ length: slots }, caller));
  return answered / capacityS;
}

async function probeHealth(going: () => boolean): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const tookMs: number[] = [];
  while (going()) {
    const askedAt = performance.now();
    const call = request(`${url}/healthz`, { agent });
    call.end();
    const [response] = (await once(call, "response")) as [IncomingMessage];
    await text(response);
    tookMs.push(performance.now() - askedAt);
    await sleep(20);
  }
  agent.destroy();
  return tookMs;
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}

const askHttp2 = createHttp2Callers(8);
// The estimates of the server learn from what it has run; and all are warm.
await Promise.all(Array.from({ length: 20 }, () => askHttp1(nextBody())));
const beforeCapacity = ticksNow();
const capacity = await measureCapacity();
console.log(`capacity: ${capacity.toFixed(1)} answers a second of depth ${depth}, ${slots} at a time`);

const capacityEngineS = tellTicks("at capacity", beforeCapacity, capacityS);

const offered = capacity * factor;
const beforeOverload = ticksNow();
const startedAt = performance.now();
const endsAt = startedAt + overloadS * 1000;
const refusals: Answer[] = [];
const statuses = new Map<number, number>();
let goodput = 0;
let lateMs = 0;
/** Of refused requests that came back exactly when they were told to: while the load went on, and after it. */
const returned = { during: { answered: 0, refused: 0 }, after: { answered: 0, refused: 0 } };
const returning: Promise<void>[] = [];

async function comeBack(body: string, afterS: number): Promise<void> {
  await sleep(afterS * 1000);
  const when = performance.now() < endsAt ? returned.during : returned.after;
  const { status } = await askHttp1(body);
  when[status === 200 ? "answered" : "refused"]++;
}

async function offer(number: number): Promise<void> {
  const body = nextBody();
  const answer = await (number % 2 === 0 ? askHttp1 : askHttp2)(body);
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  if (answer.status === 200) {
    goodput += performance.now() < endsAt ? 1 : 0;
    return;
  }
  refusals.push(answer);
  // A sample, or those who come back would be the load.
  if (refusals.length % 100 === 0 || (performance.now() > endsAt - 1000 && refusals.length % 10 === 0)) {
    returning.push(comeBack(body, answer.retryAfterS ?? 0));
  }
}

const health = probeHealth(() => performance.now() < endsAt);
const offers: Promise<void>[] = [];
for (let number = 0; ; number++) {
  const dueAt = startedAt + (number / offered) * 1000;
  if (dueAt >= endsAt) {
    break;
  }
  const early = dueAt - performance.now();
  if (early > 1) {
    await sleep(early);
  }
  lateMs = Math.max(lateMs, performance.now() - dueAt);
  offers.push(offer(number));
}
const overloadEngineS = tellTicks("overloaded", beforeOverload, overloadS);
const healthMs = await health;
await Promise.all(offers);
await Promise.all(returning);

const refusalMs = refusals.map(({ tookMs }) => tookMs);
const ratio = goodput / overloadS / capacity;
const withoutRetryAfter = refusals.filter(({ retryAfterS }) => !retryAfterS).length;
const share = ({ answered, refused }: { answered: number; refused: number }) =>
  `${answered} of ${answered + refused}`;
const row = (what: string, found: string, goal: string) =>
  console.log(`${what.padEnd(44)}${found.padEnd(36)}${goal}`);
row(
  `offered ${offered.toFixed(0)} a second for ${overloadS} s`,
  [...statuses].map(([status, count]) => `${count} × ${status}`).join(", "),
  "",
);
row(
  "health p50, p99, max",
  [50, 99, 100].map((p) => `${percentile(healthMs, p).toFixed(1)} ms`).join(", "),
  "p99 under 100 ms",
);
row(
  "refusals p50, p95, p99",
  [50, 95, 99].map((p) => `${percentile(refusalMs, p).toFixed(1)} ms`).join(", "),
  "p95 under 50 ms",
);
row("refusals without Retry-After", `${withoutRetryAfter}`, "0");
row(
  "Retry-After from, to",
  [0, 100]
    .map(
      (p) =>
        `${percentile(
          refusals.map(({ retryAfterS }) => retryAfterS ?? 0),
          p,
        )} s`,
    )
    .join(", "),
  "",
);
row("came back on time when the load had ended", `${share(returned.after)} answered`, "all");
row("came back on time while it went on", `${share(returned.during)} answered`, "");
row("answered of the capacity", `${(100 * ratio).toFixed(1)} %`, "at least 90 %");
// What other programs take differs between the two; what the engines made of what they had does not.
const perEngineS = goodput / overloadEngineS / ((capacity * capacityS) / capacityEngineS);
row("the same by the engines' processor time", `${(100 * perEngineS).toFixed(1)} %`, "at least 90 %");
row("the load itself was late by at most", `${lateMs.toFixed(0)} ms`, "");

askHttp2.close();
http1.destroy();
await stop();
