/**
 * Sends requests at 80 % of the highest rate. `npm run soak -- 60` runs for 60 minutes.
 * Exits with 1 if an answer is wrong, if the server uses 200 MB of memory, or if memory or file descriptors grow in an hour.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { mixOf, pick, Refused } from "./soak/mix.ts";
import { type VitalSigns, vitalSignsOf } from "./vital-signs.ts";

const minutes = Number(process.argv[2] ?? 10);
const load = 0.8;
const slots = 1;
/** The duration of the measurement of the highest rate, in milliseconds. */
const measureMs = 20_000;
/** The run fails if more requests are in flight at the same time. */
const underWayMax = 500;

interface Sample extends VitalSigns {
  readonly minute: number;
  readonly perSecond: number;
  /** Response times in milliseconds for new positions at depth 8. */
  readonly evaluate: { readonly p50: number; readonly p99: number };
  readonly health: { readonly p99: number };
}

const server = await startServer({
  PATH: process.env.PATH,
  KIBITZ_DATA_DIR: makeDataFolder(),
  KIBITZ_SLOTS: String(slots),
  KIBITZ_LOG_LEVEL: "info",
  KIBITZ_TRUST_PROXY: "127.0.0.1",
  // Use a small cache, which is full after the warm-up. Memory that still grows is a leak.
  KIBITZ_CACHE_MB: "2",
  KIBITZ_STORE_MB: "0",
});
const mix = mixOf(server.url);
const failures: string[] = [];
const times = { evaluate: [] as number[], health: [] as number[] };
let answered = 0;
let refused = 0;

async function ask(): Promise<void> {
  const kind = pick(mix);
  const startedAt = performance.now();
  try {
    await kind.run();
    answered += 1;
    if (kind.name === "evaluate") {
      times.evaluate.push(performance.now() - startedAt);
    }
  } catch (error) {
    if (error instanceof Refused) {
      refused += 1;
      return;
    }
    failures.push(
      `${kind.name}: ${error instanceof Error ? `${error.message} ${error.cause ?? ""}` : error}`,
    );
  }
}

async function capacityPerSecond(): Promise<number> {
  const until = performance.now() + measureMs;
  const caller = async () => {
    while (performance.now() < until) {
      await ask();
    }
  };
  await Promise.all(Array.from({ length: slots }, caller));
  return (answered / measureMs) * 1000;
}

async function offer(perSecond: number, until: number): Promise<void> {
  let underWay = 0;
  let next = performance.now();
  while (performance.now() < until) {
    // Use exponentially distributed pauses, as between independent callers.
    next += (-Math.log(1 - Math.random()) / perSecond) * 1000;
    await sleep(Math.max(0, next - performance.now()));
    if (underWay >= underWayMax) {
      failures.push(`${underWayMax} requests are under way: the server does not keep up`);
      continue;
    }
    underWay += 1;
    ask().finally(() => {
      underWay -= 1;
    });
  }
}

async function watchHealth(until: number): Promise<void> {
  while (performance.now() < until) {
    const startedAt = performance.now();
    await fetch(`${server.url}/healthz`).then((response) => response.text());
    times.health.push(performance.now() - startedAt);
    await sleep(250);
  }
}

function take(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
}

const columns = [
  "minute",
  "RSS MiB",
  "engines MiB",
  "descriptors",
  "processes",
  "req/s",
  "eval p50",
  "eval p99",
  "health p99",
];

function rowOf(sample: Sample): string[] {
  const { minute, rssMib, enginesMib, descriptors, processes, perSecond, evaluate, health } = sample;
  const numbers = [
    rssMib,
    enginesMib,
    descriptors,
    processes,
    perSecond,
    evaluate.p50,
    evaluate.p99,
    health.p99,
  ];
  return [minute.toFixed(1), ...numbers.map((number) => number.toFixed(number < 10 ? 1 : 0))];
}

/** Returns the growth of a value per hour, fitted by least squares. */
function slopePerHour(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const x = mean(samples.map(({ minute }) => minute));
  const y = mean(samples.map(value));
  const covariance = samples.reduce((sum, sample) => sum + (sample.minute - x) * (value(sample) - y), 0);
  const variance = samples.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
  return (covariance / variance) * 60;
}

async function watch(until: number, startedAt: number): Promise<readonly Sample[]> {
  const everyMs = Math.max(5000, (minutes * 60_000) / 120);
  const samples: Sample[] = [];
  console.log(columns.join("  "));
  while (performance.now() + everyMs <= until + 100) {
    const before = answered;
    await sleep(everyMs);
    const sample: Sample = {
      ...vitalSignsOf(server.pid),
      minute: (performance.now() - startedAt) / 60_000,
      perSecond: ((answered - before) / everyMs) * 1000,
      evaluate: { p50: take(times.evaluate, 0.5), p99: take(times.evaluate, 0.99) },
      health: { p99: take(times.health, 0.99) },
    };
    times.evaluate.length = 0;
    times.health.length = 0;
    samples.push(sample);
    console.log(
      rowOf(sample)
        .map((cell, index) => cell.padStart(columns[index]?.length ?? 0))
        .join("  "),
    );
  }
  return samples;
}

const capacity = await capacityPerSecond();
const startedAt = performance.now();
const until = startedAt + minutes * 60_000;
console.log(
  `capacity ${capacity.toFixed(1)} requests a second with ${slots} slot; offered: ${(load * capacity).toFixed(1)}`,
);
const [samples] = await Promise.all([
  watch(until, startedAt),
  offer(load * capacity, until),
  watchHealth(until),
]);
const exitCode = await server.stop();

// The engine pool, the cache and V8's heap reach their full size during the warm-up.
const warmMinutes = Math.min(30, minutes / 2);
const warm = samples.filter(({ minute }) => minute > warmMinutes);
const most = Math.max(...samples.map(({ rssMib }) => rssMib)) * 1.048576;
const rssSlope = slopePerHour(warm, ({ rssMib }) => rssMib);
const descriptorSlope = slopePerHour(warm, ({ descriptors }) => descriptors);
console.log(`measured: ${answered} requests were answered as they should be, ${refused} were refused as \`overloaded\`.
measured: The server took ${most.toFixed(0)} MB at most. Over the last ${minutes - warmMinutes} minutes: RSS ${rssSlope.toFixed(2)} MiB an hour, descriptors ${descriptorSlope.toFixed(2)} an hour.`);
const violations = [
  ...failures.slice(0, 20),
  ...(exitCode === 0 ? [] : [`exit code ${exitCode} after SIGTERM`]),
  ...(most < 200 ? [] : [`the server took ${most.toFixed(0)} MB, and 200 are promised`]),
];
// Do not check the growth in short runs, which vary too much.
if (minutes >= 60) {
  const rssSlopeMax = minutes >= 480 ? 1 : 5;
  violations.push(
    ...(rssSlope < rssSlopeMax ? [] : [`memory grows by more than ${rssSlopeMax} MiB an hour`]),
    ...(descriptorSlope < 5 ? [] : ["descriptors grow"]),
  );
}
for (const violation of violations) {
  console.error(violation);
}
process.exit(violations.length === 0 ? 0 : 1);
