/**
 * What breaks first, by how many nodes there are. What a request costs Redis and HAProxy, and what a node does that nobody asks, is
 * measured, in time of a processor's core; how long callers wait is simulated, with all nodes and with one away. Of that a table is made, in
 * Markdown: with searches of 0.88 s on average, as `bench/balancing.ts` has them, and with searches of a twentieth of that. Needs Redis, HAProxy
 * and a native Stockfish.
 *
 *     node bench/scaling.ts [nodes, default 1,3,16,100,1000,10000] [slots of each, default 4] [load, default 0.7] [requests, default 5000]
 */
import { availableParallelism } from "node:os";
import { createArrivals, type Load, meanSearchMs, simulate } from "./balancing/simulate.ts";
import { measureCosts } from "./scaling/costs.ts";
import { quantile } from "./service/statistics.ts";

const [
  ,
  ,
  sizesGiven = "1,3,16,100,1000,10000",
  slotsGiven = "4",
  loadGiven = "0.7",
  requestsGiven = "5000",
] = process.argv;
const sizes = sizesGiven.split(",").map(Number);
const slots = Number(slotsGiven);
const load = Number(loadGiven);

/** With more arrivals a simulation would take minutes. */
const arrivalsMax = 2_000_000;

const { request, node, redisConnections } = await measureCosts(Number(requestsGiven), 300, 10);
const ms = (value: number) => value.toFixed(3);
console.log(`${availableParallelism()} cores, of which each does 1000 ms in a second:

| | Redis | HAProxy |
|---|---|---|
| a request that is counted and searched, and whose answer all nodes are told | ${ms(request.redisMs)} ms, ${request.commands.toFixed(1)} commands | ${ms(request.haproxyMs)} ms |
| a node, in a second | ${ms(node.redisMs)} ms | ${ms(node.haproxyMs)} ms |
| so one core carries | ${Math.round(1000 / request.redisMs)} requests a second | ${Math.round(1000 / request.haproxyMs)} |
`);

/** p95 in milliseconds; undefined where there is more to do than can be done. */
function waitP95(nodes: number, loadOfThese: number): number | undefined {
  if (loadOfThese >= 1) {
    return undefined;
  }
  const all = nodes * slots;
  const given: Load = {
    nodes,
    slots,
    load: loadOfThese,
    arrivals: Math.min(arrivalsMax, all * 5000),
    seed: 1,
  };
  return quantile(simulate("least, of all", given, createArrivals(given)).toSorted(), 0.95);
}

/** What is full at which load, 1 being what all engines can do. */
function limits(nodes: number, searchMs: number): readonly (readonly [name: string, load: number])[] {
  const perSecond = (nodes * slots * 1000) / searchMs;
  const fullAt = (idleMs: number, requestMs: number) =>
    Math.max(0, (1000 - nodes * idleMs) / (perSecond * requestMs));
  return [
    ["engines", 1],
    ...(nodes > 1 ? ([["engines, with a node away", 1 - 1 / nodes]] as const) : []),
    // One node needs neither of them.
    ...(nodes > 1
      ? ([
          ["Redis's core", fullAt(node.redisMs, request.redisMs)],
          ["a core of HAProxy", fullAt(node.haproxyMs, request.haproxyMs)],
          ["Redis's connections", nodes >= redisConnections ? 0 : Number.POSITIVE_INFINITY],
        ] as const)
      : []),
  ];
}

const percent = (share: number) => `${Number((share * 100).toPrecision(3))} %`;
const wait = (value: number | undefined) =>
  value === undefined ? "grows without end" : `${Math.round(value)} ms`;
for (const searchMs of [meanSearchMs, meanSearchMs / 20]) {
  console.log(`Searches of ${(searchMs / 1000).toFixed(2)} s, ${slots} slots a node, load ${load}:

| nodes | requests a second | wait (p95) | with one node away | Redis, of a core | HAProxy, of a core | full, and at which load |
|---|---|---|---|---|---|---|`);
  for (const nodes of sizes) {
    const perSecond = (nodes * slots * load * 1000) / searchMs;
    const scale = searchMs / meanSearchMs;
    const waited = (one: number | undefined) => wait(one === undefined ? undefined : one * scale);
    const shareOf = (idleMs: number, requestMs: number) =>
      nodes === 1 ? "none" : percent((perSecond * requestMs + nodes * idleMs) / 1000);
    const away = nodes === 1 ? "nobody answers" : waited(waitP95(nodes - 1, (load * nodes) / (nodes - 1)));
    const full = limits(nodes, searchMs)
      .filter(([, at]) => at <= 1)
      .toSorted(([, one], [, other]) => one - other);
    const cells = [
      nodes,
      Math.round(perSecond),
      waited(waitP95(nodes, load)),
      away,
      shareOf(node.redisMs, request.redisMs),
      shareOf(node.haproxyMs, request.haproxyMs),
      full.map(([name, at]) => `${name}: ${percent(at)}`).join("; "),
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
  console.log("");
}
process.exit();
