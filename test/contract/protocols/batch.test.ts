import { gzipSync } from "node:zlib";
import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type EvaluateBatchRequest,
  EvaluateBatchRequestSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { rpcOf } from "../../abuse/calls.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { envelope } from "../../support/envelope.ts";
import { patienceMs } from "../../support/patience.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { connectBinary, connectJson, grpc, grpcWeb } from "./clients/connect.ts";
import { grpcJs } from "./clients/grpc-js.ts";
import { post } from "./post.ts";
import type { Plain } from "./protocol.ts";
import { type StreamClient, streamClients } from "./stream-clients.ts";

const engines = createEnginesInProcess({ quickPlies: 12, nodesAPly: 500 });
const app = useApp({ KIBITZ_SLOTS: "1" }, { engines });
const never = new AbortController().signal;

interface Item {
  readonly index: number;
  readonly result?: Plain;
  readonly problem?: Plain;
}

/** The second, third and fourth request of this batch are invalid. */
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

describe.each(streamClients)("$name", ({ open, refusalOf }) => {
  let client: StreamClient;
  beforeAll(() => {
    client = open(app.url);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  test("a batch gets an answer for each request, and an invalid request does not affect the other requests", async () => {
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

  test.each([
    ["empty", []],
    ["of 201 requests", Array.from({ length: 201 }, () => ({ fen: startFen, depth: 1 }))],
  ])("the server refuses a batch that is %s", async (_, requests) => {
    const answers = client.stream("evaluateBatch", { requests }, never);
    const thrown = await Array.fromAsync(answers).catch((error) => error);
    expect(refusalOf(thrown)).toMatchObject({
      code: "out_of_range",
      violations: [{ pointer: "/requests" }],
    });
  });
});

describe("plain JSON", () => {
  test("a batch in plain JSON returns the answers in the order of the requests", async () => {
    const { status, headers, body } = await ask({
      requests: [
        { fen: startFen, depth: 9 },
        { fen: 7 },
        ...mixed,
        { fen: startFen, deph: 1 },
        { depth: "x" },
      ],
    });
    const items = body as unknown as readonly Item[];
    expect([status, headers.get("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
    expect(items.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(items.map(({ problem }) => problem?.code)).toEqual([
      undefined,
      "invalid_type",
      ...codes,
      "unknown_field",
      "invalid_type",
    ]);
    expect(items[8]?.problem).toMatchObject({ errors: [{ pointer: "/depth" }, { pointer: "/fen" }] });
    expect(items[3]?.problem).toMatchObject({
      next_action: "send_suggested_request",
      suggested_request: { fen: startFen, depth: 30 },
    });
  });

  test("each request in a batch can have separate limits and moves", async () => {
    const requests = [
      { fen: startFen, nodes: 2000 },
      { fen: "startpos", depth: 3, search_moves: ["a3"] },
      { fen: startFen, depth: 3, search_moves: ["Ke2"] },
      { fen: startFen, nodes: 0 },
    ];
    const { body } = await ask({ requests });
    expect(body).toMatchObject([
      { result: { search: { stop_reason: "nodes", limits: { nodes: 2000 } } } },
      {
        result: { fen: startFen, best_move: { uci: "a2a3" }, search: { limits: { search_moves: ["a2a3"] } } },
      },
      { problem: { code: "illegal_move", errors: [{ pointer: "/search_moves/0" }] } },
      { problem: { code: "out_of_range", suggested_request: { fen: startFen, nodes: 1 } } },
    ]);
  });

  test("a batch in plain JSON with JSON lines as response sends each answer as soon as the answer is ready", async () => {
    const slow = { fen: startFen, depth: 13, movetime_ms: 500 };
    const body = JSON.stringify({ requests: [slow, { fen: "bad" }] });
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
    ["more than 200", { requests: Array.from({ length: 201 }, () => ({ fen: startFen })) }],
  ])("the server refuses a batch in plain JSON whose requests are %s", async (_, body) => {
    const reply = await ask(body, ready);
    expect([reply.status, reply.body]).toMatchObject([
      400,
      { code: "out_of_range", errors: [{ pointer: "/requests" }] },
    ]);
  });

  test("a batch in plain JSON is refused if it is larger than 1 MiB", async () => {
    const body = JSON.stringify({ requests: [{ fen: startFen, depth: 1 }] });
    const full = body.padEnd(1024 * 1024);
    expect((await ask(full)).status).toBe(200);
    expect(await ask(`${full} `)).toMatchObject({ status: 413, body: { code: "body_too_large" } });
    const single = JSON.stringify({ fen: startFen, depth: 1 }).padEnd(64 * 1024 + 1);
    const headers = { "Content-Type": "application/json" };
    expect((await post(`${app.url}/v1/eval`, single, headers)).status).toBe(413);
  });

  test("a batch in plain JSON may have 200 requests of the greatest size, but not more than 200,000 keys, values and lists", async () => {
    const full = { fen: startFen, moves: Array(600).fill("e4"), search_moves: Array(218).fill("e2e4") };
    const { status, body } = await ask({ requests: Array(200).fill(full) });
    expect([status, (body as unknown as readonly Item[]).map(({ problem }) => problem?.code)]).toEqual([
      200,
      Array(200).fill("illegal_move"),
    ]);
    const tooMany = { requests: Array(200).fill({ moves: Array(1000).fill(0) }) };
    expect(await ask(tooMany)).toMatchObject({
      status: 413,
      body: { code: "body_too_large", detail: expect.stringContaining("200000 keys, values and lists") },
    });
  });
});

describe("a batch over RPC may have 256 KiB", () => {
  const binary = (batch: EvaluateBatchRequest) => toBinary(EvaluateBatchRequestSchema, batch).length;
  const asJson = (batch: EvaluateBatchRequest) => toJsonString(EvaluateBatchRequestSchema, batch).length;

  /** Returns a batch of the given size in bytes. Every request is invalid, so that the tests need no engine. */
  function batchOf(bytes: number, sizeOf: (batch: EvaluateBatchRequest) => number): Plain {
    const requests = Array.from({ length: 9 }, () => ({ fen: "x".repeat(29_000) }));
    const missing = bytes - sizeOf(create(EvaluateBatchRequestSchema, { requests }));
    requests[0] = { fen: "x".repeat(29_000 + missing) };
    expect(sizeOf(create(EvaluateBatchRequestSchema, { requests }))).toBe(bytes);
    return { requests };
  }

  test.each([
    { kind: grpc, sizeOf: binary },
    { kind: grpcJs, sizeOf: binary },
    { kind: grpcWeb, sizeOf: binary },
    { kind: connectBinary, sizeOf: binary },
    { kind: connectJson, sizeOf: asJson },
  ])("a batch over $kind.name is refused if it is larger than 256 KiB", async ({ kind, sizeOf }) => {
    await using protocol = kind.open(app.url);
    const maxBytes = 256 * 1024;
    expect(await protocol.call("evaluateBatch", batchOf(maxBytes, sizeOf))).toMatchObject({
      answer: { problem: { code: "invalid_fen" } },
    });
    expect(await protocol.call("evaluateBatch", batchOf(maxBytes + 1, sizeOf))).toMatchObject({
      status: "resource_exhausted",
      refusal: {
        code: "body_too_large",
        message: expect.stringMatching(/larger than 262144 bytes.*Split the batch.*\/v1\/eval\/batch.*1 MiB/),
      },
    });
  });

  test("a batch over Connect is refused if it is too large after decompression", async () => {
    const batch = toJsonString(
      EvaluateBatchRequestSchema,
      create(EvaluateBatchRequestSchema, batchOf(256 * 1024 + 1, asJson) as object),
    );
    const response = await fetch(app.url + rpcOf("EvaluateBatch"), {
      method: "POST",
      headers: {
        "Content-Type": "application/connect+json",
        "Connect-Content-Encoding": "gzip",
        "Connect-Accept-Encoding": "identity",
      },
      body: new Uint8Array(envelope(gzipSync(batch), 1)),
    });
    expect(await response.text()).toMatch(/larger than 262144 bytes.*Split the batch/);
  });
});

test("a single request is answered while a long batch of another client runs", async () => {
  const leave = new AbortController();
  // Ten different searches, which end only by their time limit.
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
