import {
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { KibitzError } from "../errors/errors.ts";

/** Do not cache the tracer, because tests register several SDKs. */
export function tracer(): Tracer {
  return trace.getTracer("kibitz");
}

/** Returns undefined if no request or task has a span, or if the span has ended. */
export function activeSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** Starts a child span of the active span. Returns undefined if no span is active. */
export function beginSpan(name: string, options?: SpanOptions): Span | undefined {
  return activeSpan() && tracer().startSpan(name, options);
}

export function withSpan<T>(span: Span | undefined, work: () => T): T {
  return context.with(span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT, work);
}

interface WorkOptions extends SpanOptions {
  /** If `work` rejects with the abort reason of this signal, the span is marked as canceled instead of failed. */
  readonly signal?: AbortSignal;
}

/** Runs `work` in a child span of the active span. If no span is active, runs `work` without a span. */
export async function inSpan<T>(
  name: string,
  { signal, ...options }: WorkOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const span = beginSpan(name, options);
  if (span === undefined) {
    return work(undefined);
  }
  try {
    return await withSpan(span, () => work(span));
  } catch (thrown) {
    if (signal?.aborted && thrown === signal.reason) {
      span.setAttribute("kibitz.canceled", true);
    } else {
      failSpan(span, wordFor(thrown));
    }
    throw thrown;
  } finally {
    span.end();
  }
}

/** `word` must come from a short fixed list. Do not use error messages, because they may quote the request. */
export function failSpan(span: Span, word: string): void {
  span.setAttribute("error.type", word);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function wordFor(thrown: unknown): string {
  if (thrown instanceof KibitzError) {
    return thrown.code;
  }
  if (!(thrown instanceof Error)) {
    return "_OTHER";
  }
  // An EngineFailure has a `kind`, which is more exact than the name of its class.
  return "kind" in thrown && typeof thrown.kind === "string" ? thrown.kind : thrown.constructor.name;
}
