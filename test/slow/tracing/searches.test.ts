import { setTimeout as sleep } from "node:timers/promises";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { describe, expect, test } from "vitest";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { buildOf } from "../../engine/build-of.ts";
import { createFakeEngines } from "../../engine/fake-engines.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import {
  createTraceContext,
  type SpanTree,
  shapeOf,
  spansOf,
  useKeptSpans,
} from "../../support/kept-spans.ts";
import { describeWith } from "../../support/needs.ts";
import { useRedis } from "../../support/redis.ts";
import { useApp, useNodes } from "../../support/running-app.ts";

const patient = { timeout: 20_000 };

async function evaluate(
  url: string,
  body: object,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
) {
  const answer = await fetch(`${url}/v1/eval`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify({ fen: "startpos", ...body }),
    ...(signal && { signal }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

const named = (tree: SpanTree, name: string) => spansOf(tree).filter((span) => span.name === name);
const one = (tree: SpanTree, name: string) => {
  const [span, ...more] = named(tree, name);
  expect(more).toEqual([]);
  return span ?? expect.fail(`there is no span ${name} in ${JSON.stringify(shapeOf(tree))}`);
};
const milliseconds = ([seconds, nanoseconds]: readonly [number, number]) =>
  seconds * 1000 + nanoseconds / 1e6;

describe("a search", () => {
  const kept = useKeptSpans();
  const engines = createEnginesInProcess();
  const metrics = createMetrics("1.2.3");
  const app = useApp({ KIBITZ_SLOTS: "1" }, { engines, metrics });

  test("a shared search is a span in the first caller's trace, and the traces of the other callers link to this span", async () => {
    const [first, second, third] = [createTraceContext(), createTraceContext(), createTraceContext()];
    const long = { depth: 25, movetime_ms: 1500 };
    const begun = engines.begun;
    const asked = [evaluate(app.url, long, first.headers)];
    await expect.poll(() => engines.begun, patient).toBe(begun + 1);
    asked.push(evaluate(app.url, long, second.headers), evaluate(app.url, long, third.headers));
    await Promise.all(asked);
    expect(engines.begun).toBe(begun + 1);
    const search = one(await kept.trace(first.traceId), "search");
    for (const { traceId } of [second, third]) {
      const tree = await kept.trace(traceId);
      expect(shapeOf(tree)).toEqual(["POST /v1/eval", "cache memory", "join search"]);
      const { links, duration } = one(tree, "join search");
      expect(links.map(({ context }) => context)).toEqual([search.spanContext()]);
      expect(milliseconds(duration)).toBeGreaterThan(0);
    }
  });

  test("the trace of a search that waits for a slot has a separate span for the wait", async () => {
    const { traceId, headers } = createTraceContext();
    const leaving = new AbortController();
    const begun = engines.begun;
    const holding = evaluate(app.url, { depth: 26, movetime_ms: 9000 }, {}, leaving.signal);
    await expect.poll(() => engines.begun, patient).toBe(begun + 1);
    const asked = evaluate(app.url, { depth: 2 }, headers);
    await expect.poll(() => metrics.print(), patient).toMatch(/^kibitz_queue_length 1$/m);
    await sleep(60);
    leaving.abort();
    await Promise.allSettled([holding, asked]);
    const tree = await kept.trace(traceId);
    expect(shapeOf(tree)).toEqual(["POST /v1/eval", "cache memory", ["search", "queue", "engine search"]]);
    expect(milliseconds(one(tree, "queue").duration)).toBeGreaterThan(50);
  });

  test("the spans of a search are marked as canceled, not as failed, if the caller disconnects", async () => {
    const { traceId, headers } = createTraceContext();
    const leaving = new AbortController();
    const begun = engines.begun;
    const asked = evaluate(app.url, { depth: 27, movetime_ms: 20_000 }, headers, leaving.signal);
    await expect.poll(() => engines.begun, patient).toBe(begun + 1);
    leaving.abort();
    await asked.catch(() => {});
    await expect.poll(() => engines.searching, patient).toBe(0);
    const tree = await kept.trace(traceId);
    expect(tree.span.attributes["kibitz.code"]).toBe("canceled");
    await expect.poll(async () => named(await kept.trace(traceId), "engine search"), patient).toHaveLength(1);
    for (const name of ["search", "engine search"]) {
      const { attributes, status } = one(await kept.trace(traceId), name);
      expect([attributes["kibitz.canceled"], status.code]).toEqual([true, SpanStatusCode.UNSET]);
    }
  });
});

describe("a search that is refused because the queue is full", () => {
  const kept = useKeptSpans();
  const engines = createEnginesInProcess();
  const app = useApp({ KIBITZ_SLOTS: "1", KIBITZ_QUEUE_MAX_WAIT_MS: "0" }, { engines });

  test("the span of a request that is refused because the queue is full has the status error and the error code", async () => {
    const [first, second] = [createTraceContext(), createTraceContext()];
    const asked = evaluate(app.url, { depth: 26, movetime_ms: 1000 }, first.headers);
    await expect.poll(() => engines.begun, patient).toBe(1);
    expect((await evaluate(app.url, { depth: 30, movetime_ms: 1000 }, second.headers)).status).toBe(503);
    const tree = await kept.trace(second.traceId);
    expect(tree.span.status.code).toBe(SpanStatusCode.ERROR);
    expect(tree.span.attributes).toMatchObject({
      "error.type": "overloaded",
      "http.response.status_code": 503,
    });
    expect(one(tree, "queue").attributes).toEqual({ "error.type": "overloaded" });
    expect(tree.span.status.message).toBeUndefined();
    await asked;
  });
});

describe("a search whose engine dies", () => {
  const kept = useKeptSpans();
  const app = useApp(
    { KIBITZ_DEFAULT_ENGINE: "stockfish-19" },
    {
      engines: createFakeEngines({
        builds: [buildOf({ id: "stockfish-19" })],
        conduct: (number) => (number === 1 ? "exited" : "answer"),
      }),
    },
  );

  test("the trace of a search whose engine dies shows the engine failure, the start of a new engine, and a successful search", async () => {
    const { traceId, headers } = createTraceContext();
    expect((await evaluate(app.url, { depth: 1 }, headers)).status).toBe(200);
    const tree = await kept.trace(traceId);
    expect(shapeOf(tree)).toEqual([
      "POST /v1/eval",
      "cache memory",
      ["search", "queue", ["engine search", "engine start"]],
    ]);
    const { events, status } = one(tree, "engine search");
    expect(events.map(({ name, attributes }) => [name, attributes])).toEqual([
      [
        "engine failed, search tried again",
        {
          "kibitz.engine": "stockfish-19",
          "kibitz.path": "wasm",
          "kibitz.failure": "exited",
          "kibitz.attempt": 1,
        },
      ],
    ]);
    expect(status.code).toBe(SpanStatusCode.UNSET);
  });
});

describe("a search whose engine does not stop", () => {
  const kept = useKeptSpans();
  const app = useApp(
    { KIBITZ_DEFAULT_ENGINE: "stockfish-19" },
    {
      engines: createFakeEngines({ builds: [buildOf({ id: "stockfish-19" })], conduct: () => "overtime" }),
    },
  );

  test("the span of a search and the span of its request have the status error if the engine does not stop", async () => {
    const { traceId, headers } = createTraceContext();
    await evaluate(app.url, { depth: 1 }, headers);
    const tree = await kept.trace(traceId);
    const { events, status, attributes } = one(tree, "engine search");
    expect(events.map(({ name, attributes }) => [name, attributes?.["kibitz.attempt"]])).toEqual([
      ["engine failed", 1],
    ]);
    expect([status.code, attributes["error.type"]]).toEqual([SpanStatusCode.ERROR, "overtime"]);
    expect(tree.span.status.code).toBe(SpanStatusCode.ERROR);
    expect(tree.span.attributes["error.type"]).toBe(tree.span.attributes["kibitz.code"]);
  });
});

describe("a sampler that samples no traces", () => {
  const kept = useKeptSpans({ sampler: "parentbased_traceidratio", ratio: 0 });
  const metrics = createMetrics("1.2.3");
  const app = useApp({ KIBITZ_SLOTS: "1" }, { engines: createEnginesInProcess(), metrics });
  const exemplars = async () =>
    [...(await metrics.print("openmetrics")).matchAll(/trace_id="([0-9a-f]+)",span_id="([0-9a-f]+)"/g)].map(
      ([, traceId, spanId]) => ({ traceId, spanId }),
    );

  test("a request whose trace is not sampled has no exemplar and no trace id in the log", async () => {
    const { headers } = await evaluate(app.url, { depth: 1 }, {});
    expect(headers.get("traceparent")).toBeNull();
    const unwanted = await evaluate(app.url, { depth: 1 }, createTraceContext({ sampled: false }).headers);
    expect(unwanted.headers.get("traceparent")).toMatch(/-00$/);
    await sleep(50);
    expect(kept.all).toEqual([]);
    expect(await exemplars()).toEqual([]);
    const lines = app.logged.filter((line) => "message" in line && line.message === "call");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({ trace_id: undefined });
  });

  test("if the caller's trace is sampled, the server records its spans even with the sampling ratio 0, and the exemplar names the span", async () => {
    const { traceId, headers } = createTraceContext();
    await evaluate(app.url, { depth: 1 }, headers);
    const { span } = await kept.trace(traceId);
    expect(await exemplars()).toContainEqual({ traceId, spanId: span.spanContext().spanId });
  });
});

describe("a sampler that samples all traces", () => {
  const kept = useKeptSpans({ sampler: "always_on" });
  const metrics = createMetrics("1.2.3");
  const app = useApp({}, { engines: createEnginesInProcess(), metrics });

  test("the response headers, the log line and the exemplar name the trace that the server started", async () => {
    const { headers } = await evaluate(app.url, { depth: 1 }, {});
    const [, traceId = "", spanId = "", flags] = headers.get("traceparent")?.split("-") ?? [];
    expect(flags).toBe("01");
    const { span } = await kept.trace(traceId);
    expect(span.spanContext()).toMatchObject({ traceId, spanId });
    expect(await metrics.print("openmetrics")).toContain(`trace_id="${traceId}",span_id="${spanId}"`);
    expect(app.logged).toContainEqual(expect.objectContaining({ trace_id: traceId, span_id: spanId }));
  });
});

describeWith("redis")("nodes with one Redis", () => {
  const redis = useRedis();
  const kept = useKeptSpans();
  const settings = {
    KIBITZ_ACCESS: "public",
    get KIBITZ_REDIS_URL() {
      return redis.url;
    },
  };
  const patient = { operationMaxMs: 10_000, connectMaxMs: 10_000, boundedCallMaxMs: 10_000 };
  const nodes = useNodes(
    settings,
    ...[1, 2].map(() => ({ engines: createEnginesInProcess(), redis: patient })),
  );
  const [mine, other] = [() => nodes[0]?.url ?? "", () => nodes[1]?.url ?? ""];

  test("the spans of Redis commands do not contain the arguments of the commands", async () => {
    const { traceId, headers } = createTraceContext();
    await evaluate(mine(), { depth: 16 }, headers);
    const tree = await kept.trace(traceId);
    const asked = spansOf(tree).filter(({ kind }) => kind === SpanKind.CLIENT);
    expect(asked.map(({ name }) => name)).toEqual(expect.arrayContaining(["EVALSHA enter", "SET", "GET"]));
    const enter = asked.find(({ name }) => name === "EVALSHA enter");
    expect(enter?.attributes).toEqual({
      "db.system.name": "redis",
      "db.operation.name": "EVALSHA",
      "db.stored_procedure.name": "enter",
    });
    expect(one(tree, "cache shared").attributes["kibitz.cache.hit"]).toBe(false);
    const said = JSON.stringify(
      asked.map(({ attributes, events, status }) => ({ attributes, events, status })),
    );
    expect(said).not.toMatch(/answer:|claim:|127\.0\.0/);
  });

  test("the trace of a request shows that its answer was in the Redis cache", async () => {
    await evaluate(mine(), { depth: 17 }, {});
    await sleep(200);
    const { traceId, headers } = createTraceContext();
    await evaluate(other(), { depth: 17 }, headers);
    const tree = await kept.trace(traceId);
    expect(tree.span.attributes["kibitz.cached"]).toBe(true);
    expect(one(tree, "cache shared").attributes).toEqual({
      "kibitz.cache.tier": "shared",
      "kibitz.cache.hit": true,
    });
    expect(named(tree, "engine search")).toEqual([]);
  });
});
