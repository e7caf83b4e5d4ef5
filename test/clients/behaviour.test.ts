import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post } from "../contract/protocols/post.ts";
import { rowsWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { useApp } from "../support/running-app.ts";
import { cases, italianGame, quick } from "./cases.ts";
import type { Program } from "./language.ts";
import { languages } from "./languages/index.ts";
import { type Command, newCaller, openProbe, type Probe, type ProtoJson, type Result } from "./probe.ts";
import { startRecordingProxy } from "./recording-proxy.ts";

/** Seconds. */
const windowS = 6;

const app = useApp({
  KIBITZ_ACCESS: "public",
  KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { rates: [rateOf("burst", 3, windowS)] } }),
  KIBITZ_TRUST_PROXY: "127.0.0.1",
  KIBITZ_CACHE_MB: "0",
  KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
});

const postAs = (caller: ReturnType<typeof newCaller>, path: string, request: object) =>
  post(`${app.url}${path}`, { ...request }, { "Content-Type": "application/json", ...caller });

const probes = languages.flatMap(({ needs, probes }) => rowsWith(needs, ...probes));

describe.concurrent.each(probes)("$name", (program: Program) => {
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

  test.each(cases)("a client $sees", async ({ command, expected, differs, ...needs }) => {
    const metadata = { ...command.metadata, ...(needs.key && key) };
    expect(await ask({ ...command, metadata }), differs).toMatchObject(expected);
  });

  test.each(["Evaluate", "FindBestMove", "GetPrice"] as const)(
    "the response to %s over a client library equals the response to JSON over HTTP",
    async (method) => {
      const request = method === "GetPrice" ? { depth: 20 } : { fen: italianGame, depth: 8, multipv: 3 };
      const { code, messages } = await ask({ method, request });
      const { body } = await postAs(newCaller(), `/chess.analysis.v1.AnalysisService/${method}`, request);
      expect(code).toBe("OK");
      expect(messages.map(withoutChance)).toEqual([withoutChance(body)]);
    },
  );

  describe("headers", () => {
    test("the headers of a response contain the request id of the client and the state of the rate limit", async () => {
      const metadata = { "x-request-id": "clients-4711" };
      const { headers, trailers } = await ask({ method: "Evaluate", request: quick, metadata });
      expect(headers).toMatchObject({
        "x-request-id": "clients-4711",
        "ratelimit-policy": `"burst";q=3;w=${windowS}`,
        ratelimit: expect.stringMatching(/^"burst";r=2;t=[1-6]$/),
      });
      expect(trailers).not.toHaveProperty("ratelimit");
    });

    test("the headers of a stream contain the request id of the client and the state of the rate limit", async () => {
      const metadata = { "x-request-id": "clients-4712" };
      const { headers } = await ask({ method: "StreamEvaluate", request: quick, metadata });
      expect(headers).toMatchObject({
        "x-request-id": "clients-4712",
        ratelimit: expect.stringMatching(/^"burst";r=2;t=[1-6]$/),
      });
    });

    test("the details of an error contain the request id of the client", async () => {
      const metadata = { "x-request-id": "clients-4713" };
      const { details } = await ask({ method: "Evaluate", request: { fen: "x" }, metadata });
      expect(details[0]?.value.metadata.request_id).toBe("clients-4713");
    });
  });

  test("a client that exceeds a rate limit reads the name of the limit and the time to wait, and succeeds after this time", async () => {
    const evaluate: Command = { method: "Evaluate", request: quick };
    const caller = newCaller();
    for (let count = 0; count < 3; count++) {
      expect((await ask(evaluate, caller)).code).toBe("OK");
    }
    let refused = await ask(evaluate, caller);
    // On a busy machine, the limit has allowed another request meanwhile.
    for (let count = 4; refused.code === "OK" && count < 20; count++) {
      refused = await ask(evaluate, caller);
    }
    expect(refused).toMatchObject({
      code: "RESOURCE_EXHAUSTED",
      details: [
        {
          type: "google.rpc.ErrorInfo",
          value: { reason: "RATE_LIMITED", metadata: { next_action: "retry_later" } },
        },
        { type: "google.rpc.QuotaFailure", value: { violations: [{ subject: "keyless/burst" }] } },
        { type: "google.rpc.RetryInfo", value: { retryDelay: expect.stringMatching(/^[1-6]s$/) } },
        { type: "chess.analysis.v1.Problem", value: { retryable: true } },
      ],
    });
    const delayS = Number.parseInt(refused.details[2]?.value.retryDelay, 10);
    // The headers of an error are trailers in gRPC, and headers in Connect.
    expect({ ...refused.headers, ...refused.trailers }["retry-after"]).toBe(String(delayS));
    await sleep(delayS * 1000);
    expect((await ask(evaluate, caller)).code).toBe("OK");
  });

  test("a stream has increasing depths, and its last evaluation equals the unary response", async () => {
    // The search must be longer than a pause of the machine, because a late reader gets only the newest state.
    const request = { fen: italianGame, depth: 15, multipv: 2 };
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

  test("a client compresses requests and decompresses responses with gzip", async ({ onTestFinished }) => {
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

    // Connect clients compress only messages of more than 1 KiB.
    const moves = Array.from({ length: 60 }, () => ["Nf6", "Ng1", "Ng8", "Nf3"]).flat();
    const [answer] = (await send({ request: { ...quick, moves }, compress: true })).messages;
    expect(answer?.terminal.reason).toBe("TERMINAL_REASON_SEVENTYFIVE_MOVES");
    expect(proxy.hasSentGzip()).toBe(true);
  });
});

function evaluationsOf(events: readonly ProtoJson[]): readonly ProtoJson[] {
  return events.flatMap(({ evaluation }) => (evaluation ? [evaluation] : []));
}

/** Removes the fields that differ between two results of the same search. */
function withoutChance(answer: ProtoJson): unknown {
  const chance = new Set(["id", "timeMs", "nps", "queueMs", "typicalMs"]);
  return JSON.parse(JSON.stringify(answer), (name, value) => (chance.has(name) ? undefined : value));
}
