import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Context, type ContextManager, context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
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
import type { Log } from "../log/log.ts";
import type { TracingSettings } from "./settings.ts";

interface TracingOptions {
  readonly settings: TracingSettings;
  readonly version: string;
  readonly log: Pick<Log, "info" | "warn">;
  /** The exporter of spans; if undefined, OTLP with the settings of the environment. */
  readonly exporter?: SpanExporter;
  /** The longest time that the end waits for spans that have not been sent, in milliseconds. */
  readonly flushMaxMs?: number;
}

/** Only a process that wants traces loads this file. Disposing of the result sends the last spans, or gives up in a while. */
export function openTracing({
  settings,
  version,
  log,
  exporter = otlpExporter(settings),
  flushMaxMs = 4000,
}: TracingOptions): AsyncDisposable {
  const { scheduledDelayMillis, maxQueueSize, maxExportBatchSize } = settings;
  const provider = new TracerProvider({
    resource: resourceOf(version),
    sampler: samplerOf(settings),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: reporting(exporter, log),
        ...(scheduledDelayMillis !== undefined && { scheduledDelayMillis }),
        ...(maxQueueSize !== undefined && { maxQueueSize }),
        ...(maxExportBatchSize !== undefined && { maxExportBatchSize }),
      }),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(createContexts());
  return {
    async [Symbol.asyncDispose]() {
      trace.disable();
      context.disable();
      // Ignore the failure, because a failed export is already in the log.
      const sent = provider.shutdown().catch(() => {});
      await Promise.race([sent, sleep(flushMaxMs, undefined, { ref: false })]);
    },
  };
}

/** Creates the context manager, which holds the active span of asynchronous code. */
function createContexts(): ContextManager {
  const running = new AsyncLocalStorage<Context>();
  const contexts: ContextManager = {
    active: () => running.getStore() ?? ROOT_CONTEXT,
    with: (active, work, receiver, ...args) => running.run(active, () => work.apply(receiver, args)),
    bind: <T>(active: Context, target: T) =>
      typeof target === "function"
        ? (((...args: unknown[]) => running.run(active, () => target(...args))) as T)
        : target,
    enable: () => contexts,
    disable() {
      running.disable();
      return contexts;
    },
  };
  return contexts;
}

function otlpExporter({ exportMaxMs }: TracingSettings): SpanExporter {
  return new OTLPTraceExporter(exportMaxMs === undefined ? {} : { timeoutMillis: exportMaxMs });
}

/** Logs once when spans cannot be sent, and once when they can again. Reports success, or the SDK would log every few spans. */
function reporting(exporter: SpanExporter, log: TracingOptions["log"]): SpanExporter {
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

/** Returns the attributes that describe this process. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override and extend them. */
function resourceOf(version: string) {
  const own = resourceFromAttributes({
    "service.name": "kibitz",
    "service.version": version,
    "service.instance.id": randomUUID(),
  });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

function samplerOf({ sampler, ratio }: TracingSettings): Sampler {
  const [root, isParentBased] = sampler.startsWith("parentbased_")
    ? [sampler.slice("parentbased_".length), true]
    : [sampler, false];
  const sample =
    root === "traceidratio"
      ? new TraceIdRatioBasedSampler(ratio)
      : root === "always_off"
        ? new AlwaysOffSampler()
        : new AlwaysOnSampler();
  return isParentBased ? new ParentBasedSampler({ root: sample }) : sample;
}
