import { InMemorySpanExporter, type ReadableSpan } from "@opentelemetry/sdk-trace";
import { afterAll, beforeAll, beforeEach, vi } from "vitest";
import { silentLog } from "../../src/log/log.ts";
import { openTracing } from "../../src/tracing/open.ts";
import type { TracingSettings } from "../../src/tracing/settings.ts";
import { patienceMs } from "./patience.ts";

const settings: TracingSettings = {
  sampler: "parentbased_always_on",
  ratio: 1,
  scheduledDelayMillis: 1,
  maxQueueSize: undefined,
  maxExportBatchSize: undefined,
  exportMaxMs: undefined,
};

interface KeptSpans {
  readonly all: readonly ReadableSpan[];
  /** Returns the spans of one trace as soon as the span of its request has ended. */
  trace(traceId: string): Promise<SpanTree>;
}

/** A span with its child spans, in the order in which they began. */
export interface SpanTree {
  readonly span: ReadableSpan;
  readonly below: readonly SpanTree[];
}

/** Records the spans of this process during the tests of a file or a `describe`. */
export function useKeptSpans(overrides: Partial<TracingSettings> = {}): KeptSpans {
  const exporter = new InMemorySpanExporter();
  let tracing: AsyncDisposable | undefined;
  beforeAll(() => {
    tracing = openTracing({
      settings: { ...settings, ...overrides },
      version: "1.2.3",
      log: silentLog,
      exporter,
    });
  });
  beforeEach(() => exporter.reset());
  afterAll(() => tracing?.[Symbol.asyncDispose]());
  return {
    get all() {
      return exporter.getFinishedSpans();
    },
    trace: (traceId) =>
      vi.waitFor(() => {
        const spans = exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === traceId);
        const first = spans.find(({ parentSpanContext: parent }) => !parent || parent.isRemote);
        if (first === undefined) {
          throw new Error(`no request of the trace ${traceId} has ended: there are ${namesOf(spans)}`);
        }
        return treeOf(first, spans);
      }, patienceMs),
  };
}

const namesOf = (spans: readonly ReadableSpan[]) => spans.map(({ name }) => name).join(", ");

function treeOf(span: ReadableSpan, all: readonly ReadableSpan[]): SpanTree {
  const { spanId } = span.spanContext();
  const below = all.filter(({ parentSpanContext }) => parentSpanContext?.spanId === spanId);
  const begun = below.toSorted(
    (one, other) =>
      one.startTime[0] - other.startTime[0] ||
      one.startTime[1] - other.startTime[1] ||
      indexOf(one) - indexOf(other),
  );
  return { span, below: begun.map((each) => treeOf(each, all)) };
}

const indexOf = ({ attributes }: ReadableSpan) => Number(attributes["kibitz.index"] ?? 0);

/**
 * A span without children is shown as its name, and a span with children as a list: its name, then the shapes of its children.
 */
type Shape = string | readonly [string, ...Shape[]];

export function shapeOf({ span, below }: SpanTree): Shape {
  return below.length === 0 ? span.name : [span.name, ...below.map(shapeOf)];
}

export function spansOf({ span, below }: SpanTree): readonly ReadableSpan[] {
  return [span, ...below.flatMap(spansOf)];
}

let callers = 0;

export function createTraceContext({ sampled = true } = {}) {
  const traceId = (++callers).toString(16).padStart(32, "a");
  const traceparent = `00-${traceId}-b7ad6b7169203331-0${Number(sampled)}`;
  return { traceId, headers: { traceparent, tracestate: "other=1" } };
}
