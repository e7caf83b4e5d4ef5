import { type Span, SpanKind } from "@opentelemetry/api";
import {
  ATTR_DB_OPERATION_NAME,
  ATTR_DB_STORED_PROCEDURE_NAME,
  ATTR_DB_SYSTEM_NAME,
} from "@opentelemetry/semantic-conventions";
import type { SharedWork } from "../analysis/coalesce.ts";
import type { Scheduler } from "../analysis/scheduler.ts";
import type { EngineBuild, SearchJob } from "../engine/engine.ts";
import type { Engines } from "../engine/engines.ts";
import type { SearchWithRetry } from "../engine/search-with-retry.ts";
import type { EachWatched } from "../services/many-searches.ts";
import type { Redis } from "../storage/redis/connection.ts";
import { attributesOf, type Spans } from "./spans.ts";
import type { Tracing } from "./tracing.ts";

/** One item of a batch, one position of a review. */
export function tracedEach(spans: Spans): EachWatched {
  return (name, start) => (index, signal) =>
    spans.inNew(name, { attributes: { "kibitz.index": index } }, () => start(index, signal), {
      signal,
      tell: tellOutcome,
    }) as ReturnType<typeof start>;
}

/** What is wrong with an item is told in its own answer, and the batch goes on. */
function tellOutcome(result: unknown, span: Span): void {
  const { outcome } = (result ?? {}) as { outcome?: { case?: string; value?: { code?: unknown } } };
  const code = outcome?.case === "problem" ? outcome.value?.code : undefined;
  span.setAttribute("kibitz.code", typeof code === "string" ? code : "ok");
}

/** A search from its beginning to its end, waiting included, in the trace of who began it. */
export function tracedWork<T, W>(spans: Spans, work: SharedWork<T, W>): SharedWork<T, W> {
  return (publish, signal, sharers) => {
    // By who joins it: the search may be in nobody's trace, and they in theirs.
    const joined = new Map<W, Span>();
    const end = (who: W) => {
      joined.get(who)?.end();
      joined.delete(who);
    };
    const whole = async () => {
      const search = spans.current;
      sharers.watch((who) => {
        const span = spans.begin("join search");
        if (span) {
          joined.set(who, span);
          if (search) {
            span.addLink({ context: search.spanContext() });
          }
        }
      }, end);
      try {
        return await work(publish, signal, sharers);
      } finally {
        for (const who of joined.keys()) {
          end(who);
        }
      }
    };
    return spans.inNew("search", {}, whole, { signal }) as Promise<T>;
  };
}

export function tracedScheduler(spans: Spans, scheduler: Scheduler): Scheduler {
  return {
    get hasFreeSlot() {
      return scheduler.hasFreeSlot;
    },
    standing: scheduler.standing,
    async enter(work, signal, onWaiting) {
      return spans.inNew("queue", {}, () => scheduler.enter(work, signal, onWaiting), { signal });
    },
  };
}

export function tracedSearch(spans: Spans, search: SearchWithRetry): SearchWithRetry {
  return async (build, job, signal, ...audience) =>
    spans.inNew(
      "engine search",
      { attributes: { ...attributesOfBuild(build), ...attributesOfJob(job) } },
      () => search(build, job, signal, ...audience),
      {
        signal,
        tell: ({ snapshot, endedBy }, span) =>
          span.setAttributes({
            "kibitz.depth": snapshot.depth,
            "kibitz.nodes": snapshot.counters.nodes,
            "kibitz.engine_ms": snapshot.counters.timeMs,
            "kibitz.ended_by": endedBy,
          }),
      },
    );
}

function attributesOfBuild({ id, path }: Pick<EngineBuild, "id" | "path">) {
  return { "kibitz.engine": id, "kibitz.path": path };
}

/** Limits, and nothing of the position. */
function attributesOfJob({ depth, nodes, movetimeMs, multipv }: SearchJob) {
  return attributesOf({
    "kibitz.limit.depth": depth,
    "kibitz.limit.nodes": nodes,
    "kibitz.limit.movetime_ms": movetimeMs,
    "kibitz.multipv": multipv,
  });
}

/** What engines tell of is told in the search that asked for it. */
export function watchEngines(spans: Spans, { changes }: Pick<Engines, "changes">): void {
  changes.on("started", (build, seconds) => {
    const startTime = performance.now() - seconds * 1000;
    spans.begin("engine start", { startTime, attributes: attributesOfBuild(build) })?.end();
  });
  changes.on("failed", (build, { kind, attempt, isLast }) => {
    const attributes = { ...attributesOfBuild(build), "kibitz.failure": kind, "kibitz.attempt": attempt };
    spans.current?.addEvent(isLast ? "engine failed" : "engine failed, search tried again", attributes);
  });
}

export function tracedCache(spans: Spans): Tracing["cache"] {
  return (tier, cache) => {
    if (cache === undefined) {
      return cache;
    }
    const attributes = { "kibitz.cache.tier": tier };
    const tell = (found: unknown, span: Span) => {
      span.setAttribute("kibitz.cache.hit", found !== undefined);
    };
    const name = `cache ${tier}`;
    return {
      ...cache,
      get: (...asked: unknown[]) => spans.inNew(name, { attributes }, () => cache.get(...asked), { tell }),
    };
  };
}

export function tracedRedis(spans: Spans, redis: Redis): Redis {
  /** By the conventions of databases: what is asked, and never about what. */
  function asked<T>(operation: string, procedure: string | undefined, ask: () => Promise<T>): Promise<T> {
    const attributes = attributesOf({
      [ATTR_DB_SYSTEM_NAME]: "redis",
      [ATTR_DB_OPERATION_NAME]: operation,
      [ATTR_DB_STORED_PROCEDURE_NAME]: procedure,
    });
    const name = procedure === undefined ? operation : `${operation} ${procedure}`;
    return spans.inNew(name, { kind: SpanKind.CLIENT, attributes }, ask) as Promise<T>;
  }
  return {
    get health() {
      return redis.health;
    },
    changes: redis.changes,
    ask: (command, ...rest) => asked(command, undefined, () => redis.ask(command, ...rest)),
    run: (script, ...rest) => asked("EVALSHA", script.name, () => redis.run(script, ...rest)),
    channelOf: redis.channelOf,
    tell: (channel, message) => asked("PUBLISH", undefined, () => redis.tell(channel, message)),
    listen: redis.listen,
    [Symbol.dispose]: () => redis[Symbol.dispose](),
  };
}
