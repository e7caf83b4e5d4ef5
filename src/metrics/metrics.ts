import { type Counter, collectDefaultMetrics, type OpenMetricsContentType, Registry } from "prom-client";
import { wall } from "../time/time.ts";
import { createFamilies, type Families } from "./families.ts";
import type { EndedCall, Meter, MeteredEngine } from "./meter.ts";

export interface Metrics {
  readonly meter: Meter;
  /** Sets the functions that `print` calls to read the current state of the service. */
  watch(readers: Readers): void;
  /** `text` is the Prometheus text format 0.0.4. `openmetrics` also contains exemplars. */
  print(format?: "text" | "openmetrics"): Promise<string>;
}

/** The functions must be fast, because each scrape calls all of them. */
interface Readers {
  readonly queue?: () => QueueStatus;
  readonly engines?: () => readonly EngineStatus[];
  /** `started`: callers for whom a search was started. `joined`: callers that joined a search in flight. */
  readonly waiters?: () => { readonly started: number; readonly joined: number };
  /** `hits`: keys that were in memory. `misses`: keys that were read from the store. */
  readonly keys?: () => { readonly hits: number; readonly misses: number };
  readonly degraded?: () => Readonly<Record<string, boolean>>;
}

interface QueueStatus {
  readonly slots: number;
  readonly running: number;
  readonly waiting: number;
  /** Totals since the process started. `refused` counts the searches that were rejected. */
  readonly started: number;
  readonly refused: number;
  readonly expectedWaitMs: number;
}

interface EngineStatus {
  readonly build: MeteredEngine;
  readonly available: boolean;
  readonly states: readonly string[];
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
        // Collect these metrics only if needed: measuring the event loop wakes the process a hundred times a second.
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
  // Print only OpenMetrics, because printing OpenMetrics renames the counters permanently (prom-client 15.1).
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return { registry, families: createFamilies(registry) };
}

/** In the text format 0.0.4, counters have other names, and exemplars do not exist. */
function textFromOpenMetrics(openMetrics: string): string {
  const counters = new Set([...openMetrics.matchAll(/^# TYPE (\S+) counter$/gm)].map(([, name]) => name));
  return openMetrics
    .replace(/^# (?:HELP|TYPE) (\S+)/gm, (line, name) => (counters.has(name) ? `${line}_total` : line))
    .replace(/^(\w+_bucket\{.*\} \S+) # \{.*$/gm, "$1")
    .replace(/# EOF\n$/, "");
}

/** Removes three gauges of prom-client (15.1), whose names `promtool check metrics` rejects. */
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

export function describeMetrics(): readonly DescribedFamily[] {
  const { registry } = createRegistry();
  collectMetricsOfNode(registry);
  return registry.getMetricsAsArray().map(({ name, help, ...rest }) => {
    // Cast, because the type declarations of prom-client (15.1) lack the labels and have a wrong type.
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
    unhandledError() {
      families.unhandledErrors.inc();
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

/** Returns an empty object if the trace is not recorded. */
function exemplarOf({ traceparent }: EndedCall): { readonly exemplarLabels?: object } {
  const [, trace_id, span_id, flags] = traceparent?.split("-") ?? [];
  const isSampled = (Number.parseInt(flags ?? "0", 16) & 1) === 1;
  return isSampled ? { exemplarLabels: { trace_id, span_id } } : {};
}

function setTotals<L extends string>(family: Counter<L>, label: L, totals: Readonly<Record<string, number>>) {
  family.reset();
  for (const [value, total] of Object.entries(totals)) {
    family.inc({ [label]: value } as Record<L, string>, total);
  }
}

function readStatus(families: Families, { queue, engines, waiters, keys, degraded }: Readers): void {
  families.clock.set(wall() / 1000);
  if (queue) {
    const { slots, running, waiting, started, refused, expectedWaitMs } = queue();
    setTotals(families.queueEntries, "outcome", { admitted: started, refused });
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
