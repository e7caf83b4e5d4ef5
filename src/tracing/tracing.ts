import type { SharedWork } from "../analysis/coalesce.ts";
import type { Scheduler } from "../analysis/scheduler.ts";
import type { Middleware } from "../calls/middleware.ts";
import type { Engines } from "../engine/engines.ts";
import type { SearchWithRetry } from "../engine/search-with-retry.ts";
import type { RequestHandler } from "../http/message.ts";
import type { CallLine } from "../log/call-line.ts";
import type { CacheTier } from "../metrics/meter.ts";
import type { BeginSpan } from "../request/context.ts";
import type { EachWatched } from "../services/many-searches.ts";
import type { Redis } from "../storage/redis/connection.ts";

/**
 * Spans of what happens to requests. No room knows of them: each is handed parts that do as before, and beside that are
 * told of. A part of a request whose trace is not kept passes them with a look and no more.
 */
export interface Tracing {
  /** For the edge. */
  readonly beginSpan: BeginSpan | undefined;
  /** What asks a part of the server works in the span of its request, which ends with the answer. */
  handlers(handlers: readonly RequestHandler[]): readonly RequestHandler[];
  /** What a call's line says, the span of its request says. */
  callLine(write: CallLine): CallLine;
  /** Calls work in the span of their request; those of agents, of which one request may make several, in their own. */
  middleware(middleware: readonly Middleware[]): readonly Middleware[];
  /** One of the things that a call asks for at once. The outcome of one that was refused says its code. */
  readonly each: EachWatched | undefined;
  /** A search that several may share: who joins it gets a link to it. */
  readonly work: (<T, W>(work: SharedWork<T, W>) => SharedWork<T, W>) | undefined;
  scheduler(scheduler: Scheduler): Scheduler;
  search(search: SearchWithRetry): SearchWithRetry;
  /** What engines do for a search: the starts that it waits for, and the tries that fail. */
  engines(engines: Pick<Engines, "changes">): void;
  cache<C extends Readable | undefined>(tier: CacheTier, cache: C): C;
  redis(redis: Redis): Redis;
}

/** What answers are looked for in. */
interface Readable {
  // biome-ignore lint/suspicious/noExplicitAny: the parameters of stores differ, and are handed on as they are
  get(...asked: any[]): unknown;
}

/** Where nobody wants any: all parts as they are. */
export const untraced: Tracing = {
  beginSpan: undefined,
  handlers: same,
  callLine: same,
  middleware: same,
  each: undefined,
  work: undefined,
  scheduler: same,
  search: same,
  engines() {},
  cache: (_, cache) => cache,
  redis: same,
};

function same<T>(part: T): T {
  return part;
}
