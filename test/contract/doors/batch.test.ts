import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import type { Plain } from "./door.ts";
import { post } from "./post.ts";
import { type StreamClient, streamClients } from "./stream-clients.ts";

const engines = createEnginesInProcess({ quickPlies: 12, nodesAPly: 500 });
const app = useApp({ KIBITZ_SLOTS: "1" }, { engines });
const never = new AbortController().signal;

interface Item {
  readonly index: number;
  readonly result?: Plain;
  readonly problem?: Plain;
}

/** Good, out of range, no position, an engine that is not there, good. */
const mixed = [
  { fen: startFen, depth: 4 },
  { fen: startFen, depth: 99 },
  { fen: "8/8/8/8/8/8/8/8 w - - 0 1" },
  { fen: startFen, engine: "deep-blue" },
  { fen: startFen, depth: 3 },
];
const codes = [undefined, "out_of_range", "illegal_position", "unknown_engine", undefined];

const ready = "application/x-ndjson";
const ask = (body: Plain | string, accept = "application/json") =>
  post(`${app.url}/v1/eval/batch`, body, { "Content-Type": "application/json", Accept: accept });

describe.each(streamClients)("$name", ({ open }) => {
  let client: StreamClient;
  beforeAll(() => {
    client = open(app.url);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  test("a batch gets an answer for each request, and an invalid request fails alone", async () => {
    const answers = client.stream("evaluateBatch", { requests: mixed }, never);
    const items = ((await Array.fromAsync(answers)) as unknown as Item[]).toSorted(
      (a, b) => a.index - b.index,
    );
    expect(items.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(items.map(({ problem }) => problem?.code)).toEqual(codes);
    expect(items.map(({ result }) => result?.fen)).toEqual([
      startFen,
      undefined,
      undefined,
      undefined,
      startFen,
    ]);
    expect(items[1]?.problem).toMatchObject({ status: 400, errors: [{ pointer: "/depth" }] });
  });

  test("a batch answers each request by its own limits and moves", async () => {
    const requests = [
      { fen: startFen, nodes: 2000 },
      { fen: "startpos", depth: 3, search_moves: ["a3"] },
      { fen: startFen, depth: 3, search_moves: ["Ke2"] },
      { fen: startFen, nodes: 0 },
    ];
    const answers = client.stream("evaluateBatch", { requests }, never);
    const items = ((await Array.fromAsync(answers)) as unknown as Item[]).toSorted(
      (a, b) => a.index - b.index,
    );
    expect(items).toMatchObject([
      { result: { search: { stop_reason: "nodes", limits: { nodes: 2000 } } } },
      {
        result: { fen: startFen, best_move: { uci: "a2a3" }, search: { limits: { search_moves: ["a2a3"] } } },
      },
      { problem: { code: "illegal_move", errors: [{ pointer: "/search_moves/0" }] } },
      { problem: { code: "out_of_range", suggested_request: { fen: startFen, nodes: 1 } } },
    ]);
  });

  test.each([
    ["empty", []],
    ["of 201 requests", Array.from({ length: 201 }, () => ({ fen: startFen, depth: 1 }))],
  ])("a batch is refused that is %s", async (_, requests) => {
    const answers = client.stream("evaluateBatch", { requests }, never);
    await expect(Array.fromAsync(answers)).rejects.toThrow();
  });
});

describe("plain JSON", () => {
  test("a batch in plain JSON is answered in the order of its requests, whatever is ready first", async () => {
    const { status, headers, body } = await ask({
      requests: [{ fen: startFen, depth: 9 }, { fen: 7 }, ...mixed, { fen: startFen, deph: 1 }],
    });
    const items = body as unknown as readonly Item[];
    expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(items.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(items.map(({ problem }) => problem?.code)).toEqual([
      undefined,
      "invalid_type",
      ...codes,
      "unknown_field",
    ]);
    expect(items[3]?.problem).toMatchObject({
      next_action: "send_suggested_request",
      suggested_request: { fen: startFen, depth: 30 },
    });
  });

  test("a batch in plain JSON is sent in lines as they are ready", async () => {
    const body = JSON.stringify({ requests: [{ fen: startFen, depth: 12 }, { fen: "bad" }] });
    const headers = { "Content-Type": "application/json", Accept: ready };
    const response = await fetch(`${app.url}/v1/eval/batch`, { method: "POST", headers, body });
    expect(response.headers.get("content-type")).toBe(ready);
    const lines = (await response.text()).trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as Item).index)).toEqual([1, 0]);
  });

  test.each([
    ["missing", {}],
    ["null", { requests: null }],
    ["empty", { requests: [] }],
    ["longer than 200", { requests: Array.from({ length: 201 }, () => ({ fen: startFen })) }],
  ])("a batch in plain JSON is refused whose requests are %s", async (_, body) => {
    const reply = await ask(body, ready);
    expect([reply.status, reply.body]).toMatchObject([
      400,
      { code: "out_of_range", errors: [{ pointer: "/requests" }] },
    ]);
  });

  test("a batch in plain JSON may have 1 MiB, and not a byte more", async () => {
    const body = JSON.stringify({ requests: [{ fen: startFen, depth: 1 }] });
    const full = body.padEnd(1024 * 1024);
    expect((await ask(full)).status).toBe(200);
    expect(await ask(`${full} `)).toMatchObject({ status: 413, body: { code: "body_too_large" } });
    const single = JSON.stringify({ fen: startFen, depth: 1 }).padEnd(64 * 1024 + 1);
    const headers = { "Content-Type": "application/json" };
    expect((await post(`${app.url}/v1/eval`, single, headers)).status).toBe(413);
  });
});

test("Connect reads batches of up to 1 MiB, and other requests of up to 64 KiB", async () => {
  const path = `${app.url}/chess.analysis.v1.AnalysisService/`;
  const envelope = (text: string) => {
    const bytes = Buffer.from(text);
    const head = Buffer.alloc(5);
    head.writeUInt32BE(bytes.length, 1);
    return new Uint8Array(Buffer.concat([head, bytes]));
  };
  const stream = async (call: string, body: Plain, bytes: number) => {
    const response = await fetch(path + call, {
      method: "POST",
      headers: { "Content-Type": "application/connect+json" },
      body: envelope(JSON.stringify(body).padEnd(bytes)),
    });
    return response.text();
  };
  const batch = { requests: [{ fen: startFen, depth: 1 }] };
  expect(await stream("EvaluateBatch", batch, 1024 * 1024)).not.toContain("resource_exhausted");
  expect(await stream("EvaluateBatch", batch, 1024 * 1024 + 1)).toContain("resource_exhausted");
  expect(await stream("StreamEvaluate", { fen: startFen, depth: 1 }, 64 * 1024 + 1)).toContain(
    "resource_exhausted",
  );
});

test("a single request is answered while a long batch of another caller is under way", async () => {
  const leave = new AbortController();
  // Ten searches, none equal to another, that end by their time only.
  const requests = Array.from({ length: 10 }, (_, index) => ({
    fen: startFen,
    depth: 30,
    multipv: 1 + index,
    movetime_ms: 1000,
  }));
  let ended = false;
  const batch = fetch(`${app.url}/v1/eval/batch`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ requests }),
    signal: leave.signal,
  })
    .then((response) => response.text())
    .then(
      () => {
        ended = true;
      },
      () => {},
    );
  await expect.poll(() => engines.searching, { timeout: patienceMs }).toBe(1);
  const { status } = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 5 });
  expect([status, ended]).toEqual([200, false]);
  leave.abort();
  await batch;
});
