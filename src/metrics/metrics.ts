import { setTimeout as sleep } from "node:timers/promises";
import { collectDefaultMetrics, type OpenMetricsContentType, Registry } from "prom-client";
import { createFamilies, type Families } from "./families.ts";
import type { EndedCall, Meter, MeteredEngine } from "./meter.ts";

/** Metrics of this process, for Prometheus. */
export interface Metrics {
  /** What is told of as it happens. */
  readonly meter: Meter;
  /** What there is now, read when somebody looks. Of several readers of the same gauge the last one holds. */
  watch(readers: Readers): void;
  /** All of it: `text` is the exposition format 0.0.4, and `openmetrics` has exemplars too. */
  print(format?: "text" | "openmetrics"): Promise<string>;
}

/** Reads how things stand. Must be quick; undefined where there is nothing to say yet. */
interface Readers {
  readonly queue?: () => QueueStanding;
  readonly engines?: () => readonly EngineStanding[];
  /** Callers for whom a search was begun, and who joined one under way. */
  readonly askers?: () => { readonly started: number; readonly joined: number };
  /** Look-ups of API keys: answered from memory, and by the store. */
  readonly keys?: () => { readonly hits: number; readonly misses: number };
  /** The parts of the service that can be degraded, and whether they are. */
  readonly degraded?: () => Readonly<Record<string, boolean>>;
}

interface QueueStanding {
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
  /** Since the start: searches that got a slot, and that were refused. */
  readonly admitted: number;
  readonly refused: number;
  /** Milliseconds until the next search of a new caller is expected to begin. */
  readonly expectedWaitMs: number;
}

/** The engines of one build. */
interface EngineStanding {
  readonly build: MeteredEngine;
  readonly available: boolean;
  /** What each of them does. */
  readonly states: readonly string[];
  /** Of all of them together. */
  readonly memoryBytes: number;
}

/** @param version of the service */
export function createMetrics(version: string): Metrics {
  const { registry, families } = createRegistry();
  families.build.set({ version }, 1);
  let readers: Readers = {};
  /** Set as soon as somebody looks. */
  let watching: Promise<void> | undefined;
  return {
    meter: createMeter(families),
    watch(more) {
      readers = { ...readers, ...more };
    },
    async print(format = "text") {
      watching ??= watchProcess(registry);
      await watching;
      readStandings(families, readers);
      const openMetrics = await registry.metrics();
      return format === "text" ? textFromOpenMetrics(openMetrics) : openMetrics;
    },
  };
}

function createRegistry() {
  const registry = new Registry<OpenMetricsContentType>();
  // Always: prom-client (15.1) takes the endings of counters' names away when it first prints them so.
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return { registry, families: createFamilies(registry) };
}

/** The same in the exposition format 0.0.4: counters are described by the name that their series have, and there are no exemplars. */
function textFromOpenMetrics(openMetrics: string): string {
  const counters = new Set([...openMetrics.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name));
  return openMetrics
    .replace(/^# (?:HELP|TYPE) (\S+)/gm, (line, name) => (counters.has(name) ? `${line}_total` : line))
    .replace(/^(\w+_bucket\{.*\} \S+) # \{.*$/gm, "$1")
    .replace(/# EOF\n$/, "");
}

/** Some looks of the watch over the event loop, in milliseconds. It says nothing before its second one. */
const firstLooksMs = 25;

/**
 * Of the process and of Node: memory, CPU, files, the delay of the event loop, garbage collection. From when somebody looks:
 * it wakes the process a hundred times a second.
 */
async function watchProcess(registry: Registry<OpenMetricsContentType>): Promise<void> {
  collectMetricsOfNode(registry);
  await sleep(firstLooksMs);
  await sleep(firstLooksMs);
}

/**
 * What prom-client (15.1) knows of the process and of Node, without its sums over all types: they are gauges that have the ending of
 * counters, which `promtool check metrics` rejects, and PromQL sums as well.
 */
function collectMetricsOfNode(registry: Registry<OpenMetricsContentType>): void {
  collectDefaultMetrics({ register: registry });
  for (const what of ["resources", "handles", "requests"]) {
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }
}

/** A family, for people. */
export interface DescribedFamily {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** All families that are printed, in this order. */
export function describeMetrics(): readonly DescribedFamily[] {
  const { registry } = createRegistry();
  collectMetricsOfNode(registry);
  return registry.getMetricsAsArray().map(({ name, help, ...rest }) => {
    // The types of prom-client (15.1) have no labels, and another type.
    const { type, labelNames } = rest as unknown as { type: string; labelNames?: readonly string[] };
    return { name, type, help, labels: labelNames ?? [] };
  });
}

function createMeter(families: Families): Meter {
  return {
    call(call) {
      const { protocol, method = "none", code, limit, seconds } = call;
      families.requests.add({ protocol, method, code });
      if (code !== "ok" && code !== "canceled") {
        families.refusals.add({ code });
      }
      if (limit !== undefined) {
        families.limited.add({ limit });
      }
      families.requestSeconds.observe({ protocol }, seconds, traceOf(call));
    },
    search({ path, queueMs, snapshot, endedBy }) {
      const { nodes, timeMs } = snapshot.counters;
      families.searches.add({ path, ended_by: endedBy });
      families.nodes.add({ path }, nodes);
      families.searchSeconds.observe({ path }, timeMs / 1000);
      families.queueSeconds.observe({}, queueMs / 1000);
      families.searchDepth.observe({}, snapshot.depth);
    },
    lookUp(tier) {
      if (tier) {
        families.cacheHits.add({ tier });
      } else {
        families.cacheMisses.add({});
      }
    },
    redisOperation({ name: operation, seconds, failure }) {
      if (failure !== "away") {
        families.redisSeconds.observe({ operation }, seconds);
      }
      if (failure !== undefined) {
        families.redisErrors.add({ operation, reason: failure });
      }
    },
    engineStarted({ id: engine, path }, seconds) {
      families.engineStarts.add({ engine, path });
      if (seconds !== undefined) {
        families.engineStartSeconds.observe({ path }, seconds);
      }
    },
    engineLost(_engine, reason) {
      families.engineRestarts.add({ reason });
    },
  };
}

/** The request's trace, if that is kept, here or by its caller: an exemplar that leads nowhere helps nobody. */
function traceOf({ traceparent }: EndedCall): Record<string, string> | undefined {
  const [, trace_id, span_id, flags] = traceparent?.split("-") ?? [];
  const isSampled = (Number.parseInt(flags ?? "0", 16) & 1) === 1;
  return isSampled && trace_id && span_id ? { trace_id, span_id } : undefined;
}

function readStandings(families: Families, { queue, engines, askers, keys, degraded }: Readers): void {
  families.clock.set(Date.now() / 1000);
  if (queue) {
    const { slots, running, waiting, admitted, refused, expectedWaitMs } = queue();
    families.queueEntries.read({ outcome: "admitted" }, admitted);
    families.queueEntries.read({ outcome: "refused" }, refused);
    families.slots.set(slots);
    families.slotsBusy.set(running);
    families.queueLength.set(waiting);
    families.queueExpectedWait.set(expectedWaitMs / 1000);
  }
  if (askers) {
    const { started, joined } = askers();
    families.askers.read({ search: "begun" }, started);
    families.askers.read({ search: "joined" }, joined);
  }
  if (keys) {
    const { hits, misses } = keys();
    families.keyLookUps.read({ from: "memory" }, hits);
    families.keyLookUps.read({ from: "store" }, misses);
  }
  if (engines) {
    for (const family of [families.engines, families.engineMemory, families.enginesAvailable]) {
      family.reset();
    }
    for (const { build, available, states, memoryBytes } of engines()) {
      const { id: engine, path } = build;
      families.enginesAvailable.set({ engine, path }, Number(available));
      families.engineMemory.set({ engine, path }, memoryBytes);
      for (const state of states) {
        families.engines.inc({ engine, path, state });
      }
    }
  }
  for (const [part, is] of Object.entries(degraded?.() ?? {})) {
    families.degraded.set({ part }, Number(is));
  }
}
