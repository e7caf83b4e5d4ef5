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

/** Does nothing unless `open.ts` has registered the SDK. Do not keep the tracer, because tests register more than one SDK. */
export function tracer(): Tracer {
  return trace.getTracer("kibitz");
}

/** Returns the span that the running code belongs to, if the span is recorded and has not ended. */
export function activeSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** Undefined if there is no active span: work that goes on after its request was answered is in no trace. */
export function beginSpan(name: string, options?: SpanOptions): Span | undefined {
  return activeSpan() && tracer().startSpan(name, options);
}

/** Runs work with a span as the active span, or with no active span. */
export function withSpan<T>(span: Span | undefined, work: () => T): T {
  return context.with(span ? trace.setSpan(ROOT_CONTEXT, span) : ROOT_CONTEXT, work);
}

interface WorkOptions extends SpanOptions {
  /** If the work rejects with the reason of this signal, it was canceled and has not failed. */
  readonly signal?: AbortSignal;
}

/** The new span is below the active span, and ends with the work. If no span is active, the work has none. */
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

/** `word` is from a short list. It replaces the error message, which might quote the request. */
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
  // An EngineFailure has a kind.
  return "kind" in thrown && typeof thrown.kind === "string" ? thrown.kind : thrown.constructor.name;
}
