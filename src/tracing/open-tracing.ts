import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import {
  ATTR_SERVICE_INSTANCE_ID,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
} from "@opentelemetry/semantic-conventions";
import type { Log } from "../log/log.ts";
import {
  tracedCache,
  tracedEach,
  tracedRedis,
  tracedScheduler,
  tracedSearch,
  tracedWork,
  watchEngines,
} from "./parts.ts";
import { createBeginSpan, inSpanOfRequest, type Paths, tracedCallLine, tracedHandlers } from "./requests.ts";
import type { SamplerName, TracingSettings } from "./settings.ts";
import { createDrawnIds, createSpans } from "./spans.ts";
import type { Tracing } from "./tracing.ts";

interface TracingOptions {
  readonly settings: TracingSettings;
  /** Of Kibitz. */
  readonly version: string;
  readonly log: Pick<Log, "info" | "warn">;
  readonly paths: Paths;
  /** Instead of one that sends OTLP as the environment says. */
  readonly exporter?: SpanExporter;
  /** How long a stop waits for what has not been sent, in milliseconds. */
  readonly flushMaxMs?: number;
}

/** Disposing of it sends what waits, and gives up after a while. */
export function openTracing({
  settings,
  version,
  log,
  paths,
  exporter = otlpExporter(settings),
  flushMaxMs = 4000,
}: TracingOptions): Tracing & AsyncDisposable {
  const { scheduledDelayMillis, maxQueueSize, maxExportBatchSize } = settings;
  const processor = new BatchSpanProcessor({
    exporter: telling(exporter, log),
    ...(scheduledDelayMillis !== undefined && { scheduledDelayMillis }),
    ...(maxQueueSize !== undefined && { maxQueueSize }),
    ...(maxExportBatchSize !== undefined && { maxExportBatchSize }),
  });
  const sampler = samplerOf(settings.sampler, settings.ratio);
  const ids = createDrawnIds();
  const provider = new TracerProvider({
    resource: resourceOf(version),
    sampler,
    idGenerator: ids,
    spanProcessors: [processor],
  });
  const spans = createSpans(provider.getTracer("kibitz", version), { sampler, ids });
  return {
    beginSpan: createBeginSpan(spans, paths),
    handlers: (handlers) => tracedHandlers(spans, handlers),
    callLine: (write) => tracedCallLine(spans, write),
    middleware: (middleware) => [inSpanOfRequest(spans), ...middleware],
    each: tracedEach(spans),
    work: (work) => tracedWork(spans, work),
    scheduler: (scheduler) => tracedScheduler(spans, scheduler),
    search: (search) => tracedSearch(spans, search),
    engines: (engines) => watchEngines(spans, engines),
    cache: tracedCache(spans),
    redis: (redis) => tracedRedis(spans, redis),
    async [Symbol.asyncDispose]() {
      // What could not be sent is in the log by then.
      const sent = provider.shutdown().catch(() => {});
      await Promise.race([sent, sleep(flushMaxMs, undefined, { ref: false })]);
    },
  };
}

function otlpExporter({ exportMaxMs }: TracingSettings): SpanExporter {
  return new OTLPTraceExporter(exportMaxMs === undefined ? {} : { timeoutMillis: exportMaxMs });
}

/**
 * Tells the log when spans cannot be sent, and when they can again: once, however long it takes. To the SDK all of them
 * are sent: its own complaints would be a line for every few.
 */
function telling(exporter: SpanExporter, log: TracingOptions["log"]): SpanExporter {
  let failing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== 0;
        if (failed && !failing) {
          const error = result.error?.message ?? "no reason was given";
          log.warn({ error }, "degraded: traces cannot be sent, and are lost until they can");
        } else if (failing && !failed) {
          log.info({}, "recovered: traces are sent again");
        }
        failing = failed;
        done({ code: 0 });
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say more, and hold. */
function resourceOf(version: string) {
  const own = resourceFromAttributes({
    [ATTR_SERVICE_NAME]: "kibitz",
    [ATTR_SERVICE_VERSION]: version,
    [ATTR_SERVICE_INSTANCE_ID]: randomUUID(),
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

function samplerOf(name: SamplerName, ratio: number): Sampler {
  switch (name) {
    case "always_on":
      return new AlwaysOnSampler();
    case "always_off":
      return new AlwaysOffSampler();
    case "traceidratio":
      return new TraceIdRatioBasedSampler(ratio);
    case "parentbased_always_on":
      return new ParentBasedSampler({ root: new AlwaysOnSampler() });
    case "parentbased_always_off":
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case "parentbased_traceidratio":
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  }
}
