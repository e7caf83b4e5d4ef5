import { KibitzError } from "../../errors/errors.ts";
import type { Log } from "../../log/log.ts";
import { originOf, pathFrom, type RequestContext, releaseWithCall } from "../../request/context.ts";
import { createInFlight, type FullLimit } from "../../request/in-flight.ts";
import { now } from "../../time/time.ts";
import { isPreflight, type NodeRequest, type NodeResponse, type RequestHandler } from "../message.ts";
import { takeAbsoluteTarget } from "./check-request.ts";
import type { ListenerLimits } from "./limits.ts";
import { createRate } from "./rate.ts";
import { createFullWarning } from "./warn-full.ts";

/**
 * - `call`: a call of the API
 * - `probe`: a health check that is answered at once
 * - `tool`: another call of health or reflection
 * - `page`: everything else, also a path that does not exist
 */
type RequestKind = "call" | "probe" | "tool" | "page";

interface KnownPaths {
  readonly calls: ReadonlySet<string>;
  readonly probes: ReadonlySet<string>;
  readonly tools: RegExp;
}

/** Each kind of request has its own limits: health probes are answered even if the client has too many calls in flight. */
export function createKindOf({ calls, probes, tools }: KnownPaths): (path: string) => RequestKind {
  return (path) => {
    if (probes.has(path)) {
      return "probe";
    }
    if (tools.test(path)) {
      return "tool";
    }
    return calls.has(path) ? "call" : "page";
  };
}

export interface CountRequestOptions {
  readonly kindOf: (path: string) => RequestKind;
  /** Returns undefined if only the total limits apply, for example for a trusted proxy. */
  readonly callerOf: (origin: Pick<RequestContext, "address" | "forwardedFor">) => string | undefined;
  callsPerCaller(): number;
  /** Answers a probe over its rate with its true status at the least cost. */
  readonly answerProbe: RequestHandler;
  readonly isHeapFull: () => boolean;
  readonly log: Pick<Log, "warn">;
}

export interface CountedRequest {
  readonly kind: "counted";
  /** Tried before all other handlers. */
  readonly first?: RequestHandler;
  /** True if the connection is closed after the answer. */
  readonly isLast?: boolean;
  readonly rate?: PageRate;
}

interface PageRate {
  /** Call this before the answer. Returns an error if the rate of the caller is used up. */
  begin(): KibitzError | undefined;
  /** Call this when the answer is made. Counts its size. */
  end(res: NodeResponse): void;
}

/** A refused request gets an error over HTTP/1.1. A reset request gets no answer. */
export type RequestCount =
  | CountedRequest
  | { readonly kind: "refused"; readonly error: KibitzError }
  | { readonly kind: "reset" };

/** Counts a request until its work has ended. */
export type CountRequest = (req: NodeRequest, res: NodeResponse) => RequestCount;

const counted: CountedRequest = { kind: "counted" };

/**
 * When more than half of the calls are in use, one address may have at most this share of the free calls. After 60 addresses with
 * 256 calls each, about 190 of 5,000 are left for others.
 */
const shareOfFree = 1 / 20;

/** Each page, error and preflight counts as this number of bytes more, because it costs the thread about 70 µs. */
const pageBytes = 4 * 1024;
/** A call of health or reflection counts as this number of bytes: its stream has an unknown size. */
const toolBytes = 256 * 1024;

/** Decides from the headers whether a request is answered. Whatever is in flight is counted, by address and in total. */
export function createCountRequest(
  { kindOf, callerOf, callsPerCaller, answerProbe, isHeapFull, log }: CountRequestOptions,
  limits: ListenerLimits,
): CountRequest {
  const { callsMax } = limits;
  // While the heap is nearly full, one probe of each address is answered, so that a load balancer sees the true status.
  const probesOf = () => (isHeapFull() ? 1 : limits.probesPerAddress);
  const begin = {
    call: countUpTo("calls", callsMax, callsPerCaller, log),
    probe: countUpTo("probes", callsMax, probesOf, log),
    tool: countUpTo("tools", callsMax, () => limits.toolsPerAddress, log),
    page: countUpTo("pages", callsMax, () => limits.pagesPerAddress, log),
  };
  const probeRate = createRate(limits.probesPerWindow, limits.rateWindowMs);
  const pageRate = createRate(limits.pageBytesPerWindow, limits.rateWindowMs);
  const warnFull = createWarning(log);

  function rateOf(caller: string | undefined, kind: RequestKind, req: NodeRequest): PageRate | undefined {
    if (caller === undefined || kind === "call") {
      return undefined;
    }
    return {
      begin: () => (pageRate.take(caller, kind === "tool" ? toolBytes : pageBytes) ? undefined : overRate()),
      end: (res) =>
        pageRate.add(caller, req.method === "HEAD" ? 0 : Number(res.getHeader("content-length") ?? 0)),
    };
  }

  function overRate(): KibitzError {
    return new KibitzError("rate_limited", "Your address has asked for too many pages. Retry later.", {
      retryAfterMs: pageRate.endsInMs,
    });
  }

  return (req, res) => {
    takeAbsoluteTarget(req);
    const kind = isPreflight(req) ? "page" : kindOf(pathFrom(req.url ?? ""));
    const origin = originOf(req);
    const caller = callerOf(origin);
    if (kind === "probe") {
      const prober = caller ?? origin.address;
      if (begin.probe(prober, req, res)) {
        return { kind: "reset" };
      }
      return probeRate.take(prober) ? counted : { kind: "counted", first: answerProbe, isLast: true };
    }
    if (isHeapFull()) {
      warnFull();
      return { kind: "refused", error: heapFull() };
    }
    const full = begin[kind](caller, req, res);
    if (full) {
      return { kind: "refused", error: tooManyCalls(full) };
    }
    const rate = rateOf(caller, kind, req);
    return rate ? { kind: "counted", rate } : counted;
  };
}

/** Returns a function that counts a request, or returns the limit that is reached. */
function countUpTo(
  what: Parameters<typeof createFullWarning>[0],
  max: number,
  maxOfHolder: () => number,
  log: Pick<Log, "warn">,
) {
  const inFlight = createInFlight({ max, shareOfFree });
  const warn = createFullWarning(what, log);
  return (holder: string | undefined, req: NodeRequest, res: NodeResponse): FullLimit | undefined => {
    const full = inFlight.fullFor(holder, maxOfHolder());
    if (full) {
      warn(full);
      return full;
    }
    const one = inFlight.take(holder);
    // A call counts until its work has ended, which can be later than its connection.
    res.once("close", () => releaseWithCall(req, () => one[Symbol.dispose]()));
    return undefined;
  };
}

const warnEveryMs = 60_000;

function createWarning(log: Pick<Log, "warn">): () => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (now() - warnedAt >= warnEveryMs) {
      warnedAt = now();
      log.warn(
        {},
        "the heap is nearly full: new calls are refused, and answers that nobody reads are closed",
      );
    }
  };
}

const soon = { retryAfterMs: 1000 };

function heapFull(): KibitzError {
  return new KibitzError("overloaded", "The memory of this server is nearly full. Retry later.", soon);
}

function tooManyCalls({ of }: FullLimit): KibitzError {
  return of === "holder"
    ? new KibitzError(
        "concurrency_limited",
        "Your address has reached its maximum of calls in flight. Wait until one of them ends.",
        soon,
      )
    : new KibitzError(
        "overloaded",
        "This server has reached its maximum of calls in flight. Retry later.",
        soon,
      );
}
