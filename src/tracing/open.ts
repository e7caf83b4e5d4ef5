import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
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
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Log } from "../log/log.ts";
import { outsideRequests } from "../request/owner.ts";
import { sleep } from "../time/time.ts";
import type { TracingSettings } from "./settings.ts";

interface TracingOptions {
  readonly settings: TracingSettings;
  readonly version: string;
  readonly log: Pick<Log, "info" | "warn">;
  /** Default: spans are exported with OTLP, as the OTEL_* environment variables configure. */
  readonly exporter?: SpanExporter;
  /** The time limit in milliseconds for sending the last spans when the process stops. */
  readonly flushMaxMs?: number;
}

/** Disposing of the result sends the last spans. Import this file only if tracing is on, because this file loads the SDK. */
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
      outsideOfRequests(
        new BatchSpanProcessor({
          exporter: reporting(exporter, log),
          ...(scheduledDelayMillis !== undefined && { scheduledDelayMillis }),
          ...(maxQueueSize !== undefined && { maxQueueSize }),
          ...(maxExportBatchSize !== undefined && { maxExportBatchSize }),
        }),
      ),
    ],
  });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(createContexts());
  return {
    async [Symbol.asyncDispose]() {
      trace.disable();
      context.disable();
      // Ignore the failure, because `reporting` logs failed exports.
      const sent = provider.shutdown().catch(() => {});
      await Promise.race([sent, sleep(flushMaxMs, { ref: false })]);
    },
  };
}

/** The processor sends the spans of many requests together. */
function outsideOfRequests(processor: SpanProcessor): SpanProcessor {
  return {
    onStart: processor.onStart.bind(processor),
    onEnd: (span) => outsideRequests(() => processor.onEnd(span)),
    forceFlush: processor.forceFlush.bind(processor),
    shutdown: processor.shutdown.bind(processor),
  };
}

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

/** Logs the first failed export, and the first success after a failure. The SDK would log each failed export. */
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

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override these attributes. */
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
