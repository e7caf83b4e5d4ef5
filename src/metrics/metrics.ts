import { type Counter, collectDefaultMetrics, type OpenMetricsContentType, Registry } from "prom-client";
import { createFamilies, type Families } from "./families.ts";
import type { EndedCall, Meter, MeteredEngine } from "./meter.ts";

export interface Metrics {
  readonly meter: Meter;
  /** Sets the readers of the current state, which are called each time that metrics are printed. */
  watch(readers: Readers): void;
  /** Prints all metrics. The format `text` is the exposition format 0.0.4; `openmetrics` has exemplars, too. */
  print(format?: "text" | "openmetrics"): Promise<string>;
}

/** The functions that read the current state. They must be quick. */
interface Readers {
  readonly queue?: () => QueueStatus;
  readonly engines?: () => readonly EngineStatus[];
  /** Returns the number of callers for whom a search was started, and of callers that joined a search in flight. */
  readonly waiters?: () => { readonly started: number; readonly joined: number };
  /** Returns the number of look-ups of API keys: `hits` were answered from memory, `misses` by the store. */
  readonly keys?: () => { readonly hits: number; readonly misses: number };
  readonly degraded?: () => Readonly<Record<string, boolean>>;
}

interface QueueStatus {
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
  /** The number of searches since the start that got a slot; `refused` is the number of searches that were rejected. */
  readonly admitted: number;
  readonly refused: number;
  /** The time until the next search of a new client is expected to begin, in milliseconds. */
  readonly expectedWaitMs: number;
}

interface EngineStatus {
  readonly build: MeteredEngine;
  readonly available: boolean;
  readonly states: readonly string[];
  /** The memory of all engines of the build together. */
  readonly memoryBytes: number;
}

export function createMetrics(version: string): Metrics {
  const { registry, families } = createRegistry();
  families.build.set({ version }, 1);
  let readers: Readers = {};
  let isFirstPrint = true;
  return {
    meter: createMeter(families),
    watch(given) {
      readers = given;
    },
    async print(format = "text") {
      if (isFirstPrint) {
        isFirstPrint = false;
        // Start sampling only now, because sampling the event loop wakes the process a hundred times a second.
        collectMetricsOfNode(registry);
      }
      readStatus(families, readers);
      const openMetrics = await registry.metrics();
      return format === "text" ? textFromOpenMetrics(openMetrics) : openMetrics;
    },
  };
}

function createRegistry() {
  const registry = new Registry<OpenMetricsContentType>();
  // Always print OpenMetrics: when prom-client (15.1) does so, it renames counters for good.
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return { registry, families: createFamilies(registry) };
}

/** In the format 0.0.4, a counter is described under the name of its series, and exemplars do not exist. */
function textFromOpenMetrics(openMetrics: string): string {
  const counters = new Set([...openMetrics.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name));
  return openMetrics
    .replace(/^# (?:HELP|TYPE) (\S+)/gm, (line, name) => (counters.has(name) ? `${line}_total` : line))
    .replace(/^(\w+_bucket\{.*\} \S+) # \{.*$/gm, "$1")
    .replace(/# EOF\n$/, "");
}

/** Leaves out totals of prom-client (15.1): they are gauges named like counters, which `promtool check metrics` rejects. */
function collectMetricsOfNode(registry: Registry<OpenMetricsContentType>): void {
  collectDefaultMetrics({ register: registry });
  for (const what of ["resources", "handles", "requests"]) {
    registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }
}

export interface DescribedFamily {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

/** All families, in the order in which they are printed. */
export function describeMetrics(): readonly DescribedFamily[] {
  const { registry } = createRegistry();
  collectMetricsOfNode(registry);
  return registry.getMetricsAsArray().map(({ name, help, ...rest }) => {
    // The type declarations of prom-client (15.1) have no labels, and declare another type.
    const { type, labelNames } = rest as unknown as { type: string; labelNames?: readonly string[] };
    return { name, type, help, labels: labelNames ?? [] };
  });
}

function createMeter(families: Families): Meter {
  return {
    call(call) {
      const { protocol, method = "none", code, limit, seconds } = call;
      families.requests.inc({ protocol, method, code });
      if (code !== "ok" && code !== "canceled") {
        families.refusals.inc({ code });
      }
      if (limit !== undefined) {
        families.limited.inc({ limit });
      }
      families.requestSeconds.observe({ labels: { protocol }, value: seconds, ...exemplarOf(call) });
    },
    search({ path, queueMs, snapshot, endedBy }) {
      const { nodes, timeMs } = snapshot.counters;
      families.searches.inc({ path, ended_by: endedBy });
      families.nodes.inc({ path }, nodes);
      families.searchSeconds.observe({ labels: { path }, value: timeMs / 1000 });
      families.queueSeconds.observe({ value: queueMs / 1000 });
      families.searchDepth.observe({ value: snapshot.depth });
    },
    lookUp(tier) {
      if (tier) {
        families.cacheHits.inc({ tier });
      } else {
        families.cacheMisses.inc();
      }
    },
    redisOperation({ name: operation, seconds, failure }) {
      if (failure !== "away") {
        families.redisSeconds.observe({ labels: { operation }, value: seconds });
      }
      if (failure !== undefined) {
        families.redisErrors.inc({ operation, reason: failure });
      }
    },
    engineStarted({ id: engine, path }, seconds) {
      families.engineStarts.inc({ engine, path });
      if (seconds !== undefined) {
        families.engineStartSeconds.observe({ labels: { path }, value: seconds });
      }
    },
    engineLost(_engine, reason) {
      families.engineRestarts.inc({ reason });
    },
  };
}

/** Returns the trace of a request as an exemplar, if this service or the client keeps that trace. */
function exemplarOf({ traceparent }: EndedCall): { readonly exemplarLabels?: object } {
  const [, trace_id, span_id, flags] = traceparent?.split("-") ?? [];
  const isSampled = (Number.parseInt(flags ?? "0", 16) & 1) === 1;
  return isSampled ? { exemplarLabels: { trace_id, span_id } } : {};
}

/** Sets a counter to totals that are counted elsewhere, since the start. */
function setTotals<L extends string>(family: Counter<L>, label: L, totals: Readonly<Record<string, number>>) {
  family.reset();
  for (const [value, total] of Object.entries(totals)) {
    family.inc({ [label]: value } as Record<L, string>, total);
  }
}

function readStatus(families: Families, { queue, engines, waiters, keys, degraded }: Readers): void {
  families.clock.set(Date.now() / 1000);
  if (queue) {
    const { slots, running, waiting, admitted, refused, expectedWaitMs } = queue();
    setTotals(families.queueEntries, "outcome", { admitted, refused });
    families.slots.set(slots);
    families.slotsBusy.set(running);
    families.queueLength.set(waiting);
    families.queueExpectedWait.set(expectedWaitMs / 1000);
  }
  if (waiters) {
    const { started, joined } = waiters();
    setTotals(families.waiters, "search", { begun: started, joined });
  }
  if (keys) {
    const { hits, misses } = keys();
    setTotals(families.keyLookUps, "from", { memory: hits, store: misses });
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
