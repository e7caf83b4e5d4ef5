/**
 * What callers lose when nodes die or are restarted under load, and what asking again costs when there is too much of it:
 * three nodes behind HAProxy as operators have it, and behind the same without its retries. Callers ask once. Real engines for
 * the faults; for ten times overload engines that only wait.
 *
 *     node bench/cluster-faults.ts [kill,restart,overload, default all] [seconds of each, default 20]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { grpcCaller, jsonCaller, startTraffic } from "../test/cluster/traffic.ts";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { type Cluster, startCluster } from "../tools/cluster/start-cluster.ts";
import { createAsker, offer } from "./cluster/offer.ts";
import { iterationMs, waitingEngineSettings } from "./cluster/waiting-engine.ts";
import { makeDataFolder } from "./data-folder.ts";
import { quantile } from "./service/statistics.ts";

const [, , parts = "kill,restart,overload", secondsGiven = "20"] = process.argv;
const seconds = Number(secondsGiven);
const isAsked = (part: string) => parts.split(",").includes(part);

const shipped = readFileSync(new URL("../deploy/haproxy/haproxy.cfg", import.meta.url), "utf8");
const withoutRetries = join(makeDataFolder(), "haproxy.cfg");
writeFileSync(
  withoutRetries,
  shipped.replace(/^ *retries .*$/m, "    retries 0").replace(/^ *retry-on .*$/m, ""),
);
const configs = { "with retries": undefined, "without retries": withoutRetries };

async function loseNodes(cluster: Cluster, signal: NodeJS.Signals): Promise<string> {
  using own = grpcCaller(cluster.url);
  const traffic = startTraffic(
    [...Array.from({ length: 8 }, () => jsonCaller(cluster.url)), own, own, own, own],
    8,
  );
  await sleep(2000);
  const endsAt = performance.now() + seconds * 1000;
  let faults = 0;
  while (performance.now() < endsAt) {
    const node = cluster.nodes[faults++ % cluster.nodes.length];
    await node?.stop(signal);
    await node?.start();
    await sleep(1000);
  }
  await traffic.stop();
  for (const failure of new Set(traffic.failures)) {
    console.log(`  failed: ${failure.replaceAll("\n", " ")}`);
  }
  const { calls, failed } = traffic.counts;
  return `${failed} of ${calls} calls failed, with ${faults} nodes lost one after the other; slowest ${Math.max(...traffic.tookMs).toFixed(0)} ms`;
}

async function overload(cluster: Cluster): Promise<string> {
  // Two slots a node, and searches of ten depths.
  const depth = 11;
  const capacity = (3 * 2 * 1000) / (iterationMs * (depth - 1));
  using ask = createAsker(cluster.url);
  await Promise.all(Array.from({ length: 12 }, () => ask(depth)));
  // Queues are full before it counts.
  const startedAt = performance.now();
  const answers = await offer(ask, 10 * capacity, seconds, () => depth);
  const [fromAt, toAt] = [startedAt + seconds * 250, startedAt + seconds * 1000];
  const good = answers.filter(({ status, endedAt }) => status === 200 && endedAt > fromAt && endedAt < toAt);
  const perS = good.length / (seconds * 0.75);
  const statuses = Map.groupBy(answers, ({ status }) => status);
  const refused = (statuses.get(503) ?? []).map(({ tookMs }) => tookMs).toSorted((a, b) => a - b);
  const counts = [...statuses].map(([status, { length }]) => `${length} × ${status}`).join(", ");
  return `${perS.toFixed(1)} answered a second, of ${capacity.toFixed(0)} possible and ${(10 * capacity).toFixed(0)} offered (${counts}); refused within ${quantile(refused, 0.95).toFixed(0)} ms (p95)`;
}

const { KIBITZ_PORT: _, ...settings } = quickestSettings;
const busy = { ...settings, KIBITZ_SLOTS: "1", KIBITZ_CACHE_MB: "0", KIBITZ_QUEUE_MAX_WAIT_MS: "60000" };
for (const [name, config] of Object.entries(configs)) {
  const given = config === undefined ? {} : { config };
  for (const [part, signal] of [
    ["kill", "SIGKILL"],
    ["restart", "SIGTERM"],
  ] as const) {
    if (isAsked(part)) {
      await using cluster = await startCluster({ env: busy, ...given });
      console.log(`${signal}, ${name}: ${await loseNodes(cluster, signal)}`);
    }
  }
  if (isAsked("overload")) {
    const env = { ...waitingEngineSettings(), KIBITZ_SLOTS: "2", KIBITZ_QUEUE_MAX_WAIT_MS: "2000" };
    await using cluster = await startCluster({ env, ...given });
    console.log(`ten times overload, ${name}: ${await overload(cluster)}`);
  }
}
process.exit();
