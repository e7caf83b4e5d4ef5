import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { post } from "../contract/doors/post.ts";
import { rowsWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useApp } from "../support/running-app.ts";
import { cases, italianGame, longSearch } from "./cases.ts";
import type { Program } from "./language.ts";
import { languages } from "./languages/index.ts";
import { type Command, openProbe, type Probe, type ProtoJson, type Result } from "./probe.ts";
import { startRecordingProxy } from "./recording-proxy.ts";

/** Of the limit that is tried. */
const windowS = 3;
const metrics = createMetrics("1.2.3");

/**
 * Every client library sees the same behaviour. One search at a time, no answer without one, and nobody refused for
 * it: whoever holds the engine after its caller has left holds up everybody.
 */
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { rates: [rateOf("burst", 3, windowS)] } }),
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_SLOTS: "1",
    KIBITZ_CACHE_MB: "0",
    KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
  },
  { metrics },
);

/** What a busy machine is too slow for at first, it is asked for again, so many times at most. */
const triesMax = 5;
/** Who waits goes on as soon as it is so. */
const patient = { timeout: 30_000 };

/** Callers are told apart by the address that a trusted proxy forwards for: each test is somebody else. */
let callers = 0;
const newCaller = () => ({ "x-forwarded-for": `198.18.${callers >> 8}.${callers++ & 255}` });

const postAs = (caller: ReturnType<typeof newCaller>, path: string, request: object) =>
  post(`${app.url}${path}`, { ...request }, { "Content-Type": "application/json", ...caller });

const probes = languages.flatMap(({ needs, probes }) => rowsWith(needs, ...probes));

describe.each(probes)("$name", (program: Program) => {
  let probe: Probe;
  let key: { readonly authorization: string };
  beforeAll(async () => {
    probe = openProbe(program, app.url);
    const made = await ask({ method: "CreateKey", request: { name: "probe" } });
    expect(made).toMatchObject({ code: "OK", messages: [{ name: "probe", plan: "free" }] });
    key = { authorization: `Bearer ${made.messages[0]?.key}` };
  });
  afterAll(() => probe.close());

  const ask = (command: Command, caller = newCaller()) =>
    probe.ask({ ...command, metadata: { ...caller, ...command.metadata } });

  test.each(cases)("$promise", async ({ command, expected, differs, ...needs }) => {
    const metadata = { ...command.metadata, ...(needs.key && key) };
    expect(await ask({ ...command, metadata }), differs).toMatchObject(expected);
  });

  test.each(["Evaluate", "FindBestMove", "GetPrice"] as const)(
    "%s is answered as to anybody",
    async (method) => {
      const request = method === "GetPrice" ? { depth: 20 } : { fen: italianGame, depth: 8, multipv: 3 };
      const { code, messages } = await ask({ method, request });
      const { body } = await postAs(newCaller(), `/chess.analysis.v1.AnalysisService/${method}`, request);
      expect(code).toBe("OK");
      expect(messages.map(withoutChance)).toEqual([withoutChance(body)]);
    },
  );

  describe("headers", () => {
    test("carry the caller's request id back, and how the windows stand", async () => {
      const metadata = { "x-request-id": "clients-4711" };
      const { headers, trailers } = await ask({ method: "Evaluate", request: quick, metadata });
      expect(headers).toMatchObject({
        "x-request-id": "clients-4711",
        "ratelimit-policy": `"burst";q=3;w=${windowS}`,
        ratelimit: expect.stringMatching(/^"burst";r=2;t=[1-3]$/),
      });
      expect(trailers).not.toHaveProperty("ratelimit");
    });

    test("do so for a stream", async () => {
      const metadata = { "x-request-id": "clients-4712" };
      const { headers } = await ask({ method: "StreamEvaluate", request: quick, metadata });
      expect(headers).toMatchObject({
        "x-request-id": "clients-4712",
        ratelimit: expect.stringMatching(/^"burst";r=2;t=[1-3]$/),
      });
    });

    test("and the details of an error name the request", async () => {
      const metadata = { "x-request-id": "clients-4713" };
      const { details } = await ask({ method: "Evaluate", request: { fen: "x" }, metadata });
      expect(details[0]?.value.metadata.request_id).toBe("clients-4713");
    });
  });

  test("a limit that is reached says which, and how long to wait; then there is an answer", async () => {
    const evaluate: Command = { method: "Evaluate", request: quick };
    const askUntilRefused = async () => {
      const caller = newCaller();
      const begin = performance.now();
      for (let count = 0; count < 3; count++) {
        expect((await ask(evaluate, caller)).code).toBe("OK");
      }
      const refused = await ask(evaluate, caller);
      return { caller, refused, isWithinWindow: performance.now() - begin < windowS * 1000 };
    };
    let asked = await askUntilRefused();
    for (let tries = 1; tries < triesMax && !asked.isWithinWindow; tries++) {
      asked = await askUntilRefused();
    }
    const { caller, refused } = asked;
    expect(refused).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      details: [
        {
          type: "google.rpc.ErrorInfo",
          value: { reason: "RATE_LIMITED", metadata: { next_action: "retry_later" } },
        },
        { type: "google.rpc.QuotaFailure", value: { violations: [{ subject: "keyless/burst" }] } },
        { type: "google.rpc.RetryInfo", value: { retryDelay: expect.stringMatching(/^[1-3]s$/) } },
        { type: "chess.analysis.v1.Problem", value: { retryable: true } },
      ],
    });
    const delayS = Number.parseInt(refused.details[2]?.value.retryDelay, 10);
    // An error's own fields are trailers in gRPC and headers in Connect.
    expect({ ...refused.headers, ...refused.trailers }["retry-after"]).toBe(String(delayS));
    await sleep(delayS * 1000);
    expect((await ask(evaluate, caller)).code).toBe("OK");
  });

  test("a stream deepens, and ends with the answer of a single call", async () => {
    const request = { fen: italianGame, depth: 12, multipv: 2 };
    const { code, messages } = await ask({ method: "StreamEvaluate", request });
    expect(code).toBe("OK");
    const states = evaluationsOf(messages);
    const depths = states.map(({ search }) => search.depth);
    expect(depths).toEqual([...new Set(depths)].toSorted((a, b) => a - b));
    expect(depths.length).toBeGreaterThan(1);
    expect(states.map(({ search }) => search.stopReason)).toEqual([
      ...Array.from({ length: states.length - 1 }),
      "STOP_REASON_DEPTH",
    ]);
    const single = await ask({ method: "Evaluate", request });
    expect(states.slice(-1).map(withoutChance)).toEqual(single.messages.map(withoutChance));
  });

  test("a stream tells its place while it waits", async () => {
    const leaving = new AbortController();
    const holding = fetch(`${app.url}/v1/eval`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...newCaller(), ...key },
      body: JSON.stringify(longSearch),
      signal: leaving.signal,
    }).catch(() => "left");
    await expect.poll(() => metrics.print(), patient).toMatch(/^kibitz_slots_busy 1$/m);
    const asked = ask({ method: "StreamEvaluate", request: { ...quick, multipv: 2 } });
    await expect.poll(() => metrics.print(), patient).toMatch(/^kibitz_queue_length 1$/m);
    leaving.abort();
    const { code, messages } = await asked;
    expect(code).toBe("OK");
    expect(messages[0]).toEqual({ queued: { place: 1, expectedWaitMs: expect.any(Number) } });
    expect(evaluationsOf(messages).at(-1)?.search.stopReason).toBe("STOP_REASON_DEPTH");
    await holding;
  });

  describe("a caller that leaves frees the engine within half a second", () => {
    const unary: Command = { method: "Evaluate", request: longSearch };
    const stream: Command = { method: "StreamEvaluate", request: longSearch };

    test.each<[string, Command, string, number]>([
      ["by its deadline", { ...unary, deadline_ms: 300 }, "DEADLINE_EXCEEDED", 0],
      ["by the deadline of a stream", { ...stream, deadline_ms: 300 }, "DEADLINE_EXCEEDED", 1],
      ["by cancelling", { ...unary, cancel_after_ms: 200 }, "CANCELLED", 0],
      ["by cancelling a stream", { ...stream, cancel_after_ms: 200 }, "CANCELLED", 1],
      ["by cancelling a stream at its second state", { ...stream, cancel_after_messages: 2 }, "CANCELLED", 2],
    ])("%s", async (_, command, code, messagesMin) => {
      const seen: { messages: number; lateMs: number; freedMs: number }[] = [];
      const isPrompt = () =>
        seen.some(
          ({ messages, lateMs, freedMs }) => messages >= messagesMin && lateMs < 700 && freedMs < 500,
        );
      while (!isPrompt() && seen.length < triesMax) {
        // A busy machine may need longer for as many messages.
        const times = seen.length + 1;
        const deadlineMs = command.deadline_ms && command.deadline_ms * times;
        const cancelAfterMs = command.cancel_after_ms && command.cancel_after_ms * times;
        const left = await ask({
          ...command,
          ...(deadlineMs && { deadline_ms: deadlineMs }),
          ...(cancelAfterMs && { cancel_after_ms: cancelAfterMs }),
          metadata: key,
        });
        expect(left.code).toBe(code);
        const begin = performance.now();
        const { status } = await postAs(newCaller(), "/v1/eval", quick);
        expect(status).toBe(200);
        seen.push({
          messages: left.messages.length,
          lateMs: left.elapsed_ms - (deadlineMs ?? cancelAfterMs ?? 0),
          freedMs: performance.now() - begin,
        });
      }
      expect(isPrompt(), JSON.stringify(seen)).toBe(true);
    });
  });

  test("compression works both ways, and is seen on the wire", async () => {
    const proxy = await startRecordingProxy(app.url);
    onTestFinished(() => proxy.close());
    const throughProxy = openProbe(program, proxy.url);
    onTestFinished(() => throughProxy.close());
    const send = (asked: Partial<Command>): Promise<Result> =>
      throughProxy.ask({ method: "Evaluate", request: quick, metadata: newCaller(), ...asked });

    expect((await send({})).code).toBe("OK");
    expect([proxy.hasSentGzip(), proxy.hasReceivedGzip()]).toEqual([false, false]);

    expect((await send({ request: { ...quick, depth: 12, multipv: 5 } })).messages[0]?.lines).toHaveLength(5);
    expect([proxy.hasSentGzip(), proxy.hasReceivedGzip()]).toEqual([false, true]);

    // Longer than 1 KiB: Connect's clients send as it is what is shorter.
    const moves = Array.from({ length: 60 }, () => ["Nf6", "Ng1", "Ng8", "Nf3"]).flat();
    const [answer] = (await send({ request: { ...quick, moves }, compress: true })).messages;
    expect(answer?.terminal.reason).toBe("TERMINAL_REASON_SEVENTYFIVE_MOVES");
    expect(proxy.hasSentGzip()).toBe(true);
  });
});

const quick = { fen: italianGame, depth: 4 };

/** What a stream says beside where its search waits. */
function evaluationsOf(events: readonly ProtoJson[]): readonly ProtoJson[] {
  return events.flatMap(({ evaluation }) => (evaluation ? [evaluation] : []));
}

/** An answer without what differs from one search to the next. */
function withoutChance(answer: ProtoJson): unknown {
  const chance = new Set(["id", "timeMs", "nps", "queueMs", "typicalMs"]);
  return JSON.parse(JSON.stringify(answer), (name, value) => (chance.has(name) ? undefined : value));
}
