import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import {
  type IdGenerator,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
} from "@opentelemetry/sdk-trace";
import { ATTR_ERROR_TYPE } from "@opentelemetry/semantic-conventions";
import { EngineFailure } from "../engine/engine.ts";
import { KibitzError } from "../errors/errors.ts";

/** The spans of what this process does, and which of them the code that runs is in. */
export interface Spans {
  /** Undefined where the trace is not kept, or the span has ended: what goes on behind an answer is nobody's. */
  readonly current: Span | undefined;
  /** A span below that; undefined where there is none. */
  begin(name: string, options?: SpanOptions): Span | undefined;
  /** A first span, or one below another process's; undefined where the sampler does not keep it, and then nothing is asked. */
  beginFirst(parent: Context, name: string, options: () => SpanOptions): Span | undefined;
  /** Works in a span, with all that comes of it. */
  within<T>(span: Span | undefined, work: () => T): T;
  /** Works in a new span, which ends with the work. @param tell what is to be said of what it resolves with */
  inNew<T>(
    name: string,
    options: SpanOptions,
    work: () => T | Promise<T>,
    end?: EndOfWork<T>,
  ): T | Promise<T>;
}

interface EndOfWork<T> {
  /** What there is to say of the result. */
  readonly tell?: (result: T, span: Span) => void;
  /** Whose abort is no failure. */
  readonly signal?: AbortSignal | undefined;
}

/** Decides which traces are kept. By their ids, or their parents: the rest is not looked at. */
interface Choice {
  readonly sampler: Sampler;
  /** That of the tracer. */
  readonly ids: DrawnIds;
}

/** Ids of traces that are drawn before it is known whether anything begins with them. */
interface DrawnIds extends IdGenerator {
  draw(): string;
}

export function createDrawnIds(): DrawnIds {
  const random = new RandomIdGenerator();
  let drawn: string | undefined;
  return {
    generateSpanId: () => random.generateSpanId(),
    generateTraceId() {
      const id = drawn ?? random.generateTraceId();
      drawn = undefined;
      return id;
    },
    draw() {
      drawn = random.generateTraceId();
      return drawn;
    },
  };
}

export function createSpans(tracer: Tracer, { sampler, ids }: Choice): Spans {
  const running = new AsyncLocalStorage<Span | undefined>();

  function current(): Span | undefined {
    const span = running.getStore();
    return span?.isRecording() ? span : undefined;
  }

  function kept(span: Span): Span | undefined {
    return span.isRecording() ? span : undefined;
  }

  function begin(name: string, options?: SpanOptions): Span | undefined {
    const above = current();
    return above && kept(tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, above)));
  }

  const spans: Spans = {
    get current() {
      return current();
    },
    begin,
    beginFirst(parent, name, options) {
      // The SDK decides it when a span is all but made: for a request whose trace is not kept that would be most of the cost.
      const traceId = trace.getSpanContext(parent)?.traceId ?? ids.draw();
      const { decision } = sampler.shouldSample(parent, traceId, name, SpanKind.SERVER, {}, []);
      return decision === SamplingDecision.NOT_RECORD
        ? undefined
        : kept(tracer.startSpan(name, options(), parent));
    },
    within: (span, work) => running.run(span, work),
    inNew(name, options, work, end = {}) {
      const span = begin(name, options);
      if (span === undefined) {
        return work();
      }
      try {
        const result = running.run(span, work);
        if (!(result instanceof Promise)) {
          end.tell?.(result, span);
          span.end();
          return result;
        }
        return endWith(span, result, end);
      } catch (thrown) {
        fail(span, thrown, end.signal);
        span.end();
        throw thrown;
      }
    },
  };
  return spans;
}

async function endWith<T>(span: Span, result: Promise<T>, { tell, signal }: EndOfWork<T>): Promise<T> {
  try {
    const value = await result;
    tell?.(value, span);
    return value;
  } catch (thrown) {
    fail(span, thrown, signal);
    throw thrown;
  } finally {
    span.end();
  }
}

/** By the conventions: a status, and a word of few. Never a message, which may quote what a caller has sent. */
function fail(span: Span, thrown: unknown, signal?: AbortSignal): void {
  if (signal?.aborted && thrown === signal.reason) {
    span.setAttribute("kibitz.canceled", true);
    return;
  }
  failAs(span, wordFor(thrown));
}

export function failAs(span: Span, word: string): void {
  span.setAttribute(ATTR_ERROR_TYPE, word);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function wordFor(thrown: unknown): string {
  if (thrown instanceof KibitzError) {
    return thrown.code;
  }
  if (thrown instanceof EngineFailure) {
    return thrown.kind;
  }
  return thrown instanceof Error ? thrown.constructor.name : "_OTHER";
}

/** Without those that are not set. */
export function attributesOf(fields: Readonly<Record<string, Attributes[string] | undefined>>): Attributes {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
