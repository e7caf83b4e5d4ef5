/**
 * Measures a cluster of three nodes. `engines` compares the cluster with three engines that run without Kibitz.
 * `waiting` compares the cluster with one node that has the same number of slots.
 *     node bench/cluster.ts [engines,waiting] [seconds per measurement, default 20] [rounds, default 3]
 */
import { availableParallelism } from "node:os";
import { nextQuestion } from "../test/cluster/traffic.ts";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { startServer } from "../test/support/start-server.ts";
import { startCluster } from "../tools/cluster/start-cluster.ts";
import { createClient, offer } from "./cluster/offer.ts";
import { iterationMs, waitingEngineSettings } from "./cluster/waiting-engine.ts";
import { makeDataFolder } from "./data-folder.ts";
import { nativeEngine } from "./service/engine.ts";
import { startBareEngine } from "./service/peers/bare-engines.ts";
import { quantile } from "./service/statistics.ts";

const [, , parts = "engines,waiting", secondsGiven = "20", roundsGiven = "3"] = process.argv;
const seconds = Number(secondsGiven);
const rounds = Number(roundsGiven);
const isAsked = (part: string) => parts.split(",").includes(part);

const { KIBITZ_PORT: _, ...quickest } = quickestSettings;
const settings = { ...quickest, KIBITZ_WASM_BUILD: "fast" };

/** Returns answers per second. Each caller waits for the answer before its next request. */
async function rateOf(ask: () => Promise<unknown>, callers: number): Promise<number> {
  const endsAt = performance.now() + seconds * 1000;
  let answered = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < endsAt) {
        await ask();
        answered += performance.now() < endsAt ? 1 : 0;
      }
    }),
  );
  return answered / seconds;
}

async function compareWithEngines(): Promise<void> {
  const depth = 13;
  const engine = await nativeEngine();
  const bare = await Promise.all([startBareEngine(engine), startBareEngine(engine), startBareEngine(engine)]);
  await using cluster = await startCluster({
    env: {
      ...settings,
      KIBITZ_SLOTS: "1",
      KIBITZ_CACHE_MB: "0",
      KIBITZ_NATIVE_ENGINES: engine.command.file,
      KIBITZ_DEFAULT_ENGINE: engine.id,
      KIBITZ_QUEUE_MAX_WAIT_MS: "60000",
    },
  });
  using ask = createClient(cluster.url);
  const idle = [...bare];
  const askBare = async () => {
    const own = idle.pop();
    await own?.search(`fen ${nextQuestion(depth).fen}`, depth);
    if (own) {
      idle.push(own);
    }
  };
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const nodes = await rateOf(() => ask(depth), 6);
    const engines = await rateOf(askBare, 3);
    ratios.push(nodes / engines);
    console.log(`three nodes ${nodes.toFixed(1)} answers a second, three bare engines ${engines.toFixed(1)}`);
  }
  for (const one of bare) {
    one.stop();
  }
  console.log(
    `three nodes reach ${(
      100 *
        quantile(
          ratios.toSorted((a, b) => a - b),
          0.5,
        )
    ).toFixed(
      1,
    )} % of three bare engines on ${availableParallelism()} cores (goal: at least 95 % as far as there are cores)`,
  );
}

/** 70 % of the searches take 0.15 s, 24 % take 0.65 s, and 6 % take 1.45 s. */
const depthOf = (chance: number) => (chance < 0.7 ? 4 : chance < 0.94 ? 14 : 30);
const meanS = (iterationMs * (0.7 * 3 + 0.24 * 13 + 0.06 * 29)) / 1000;

async function compareWaiting(): Promise<void> {
  const waiting = { ...waitingEngineSettings(), KIBITZ_QUEUE_MAX_WAIT_MS: "60000", PATH: process.env.PATH };
  const measure = async (url: string, slots: number) => {
    using ask = createClient(url);
    await Promise.all(Array.from({ length: 2 * slots }, () => ask(4)));
    const answers = await offer(ask, (0.7 * slots) / meanS, seconds * rounds, depthOf);
    const sorted = answers.map(({ waitedMs }) => waitedMs).toSorted((a, b) => a - b);
    const failed = answers.filter(({ status }) => status !== 200).length;
    const [p50, p95] = [quantile(sorted, 0.5), quantile(sorted, 0.95)];
    return {
      p95,
      text: `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms of ${sorted.length}, ${failed} failed`,
    };
  };
  for (const [slots, goal] of [
    [4, "goal: at most 1.3"],
    [1, "reported only"],
  ] as const) {
    const server = await startServer({
      ...waiting,
      KIBITZ_SLOTS: String(3 * slots),
      KIBITZ_DATA_DIR: makeDataFolder(),
    });
    const one = await measure(server.url, 3 * slots);
    await server.stop();
    await using cluster = await startCluster({ env: { ...waiting, KIBITZ_SLOTS: String(slots) } });
    const three = await measure(cluster.url, 3 * slots);
    console.log(`wait at 70 % load, one node with ${3 * slots} slots: ${one.text}`);
    console.log(`wait at 70 % load, three nodes with ${slots} behind HAProxy: ${three.text}`);
    console.log(`p95 is ${(three.p95 / one.p95).toFixed(2)} times that of one node (${goal})`);
  }
}

if (isAsked("engines")) {
  await compareWithEngines();
}
if (isAsked("waiting")) {
  await compareWaiting();
}
process.exit();
