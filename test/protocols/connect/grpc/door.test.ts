import { gunzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisService } from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { localAccount } from "../../../../src/access/account.ts";
import { createCalls, type Implementation } from "../../../../src/calls/invoke.ts";
import { KibitzError } from "../../../../src/errors/errors.ts";
import { createBodyBudget } from "../../../../src/http/body-budget.ts";
import { silentLog } from "../../../../src/log/log.ts";
import { createGrpcDoor, type GrpcDoorOptions } from "../../../../src/protocols/connect/grpc/door.ts";
import { startListener } from "../../../http/start-listener.ts";
import { askOverWire, enveloped } from "./ask.ts";

const { evaluate, streamEvaluate, evaluateBatch } = AnalysisService.method;
const pathOf = (call: string) => `/${AnalysisService.typeName}/${call}`;
const message = toBinary(evaluate.input, create(evaluate.input, { fen: "x" }));

/** Asks a door in front of a Connect that takes all, and tells what it was given. */
async function start(options: Partial<GrpcDoorOptions> = {}) {
  const given: (string | undefined)[] = [];
  const implementation = {
    service: AnalysisService,
    methods: {
      evaluate: () => ({ fen: "here" }),
      findBestMove: () => ({}),
      async *streamEvaluate() {
        yield { event: { case: "evaluation" as const, value: { fen: "here" } } };
        yield { event: { case: "evaluation" as const, value: { fen: "x".repeat(2000) } } };
      },
      async *evaluateBatch() {},
      listEngines: () => ({}),
      getPrice: () => ({}),
    },
  } as unknown as Implementation;
  const door = createGrpcDoor({
    services: [AnalysisService],
    calls: createCalls([implementation], []),
    isShort: (method) => method !== evaluateBatch,
    readMaxBytesOf: () => 1000,
    enter: () => ({ account: localAccount, check() {}, isLimited() {}, async refused() {} }),
    bodies: createBodyBudget(),
    connect(_req, res, read) {
      given.push(read && Buffer.from(read).toString("latin1"));
      res.statusCode = 204;
      res.end();
      return true;
    },
    log: silentLog,
    ...options,
  });
  const { base } = await startListener([door], {}, undefined, {
    isRpcPath: (path) => path.startsWith(`/${AnalysisService.typeName}/`),
  });
  return { base, given };
}

test.each([
  [evaluate.name, "application/grpc", {}],
  [evaluate.name, "application/grpc+proto", {}],
  [streamEvaluate.name, "application/grpc", {}],
  [evaluate.name, "application/grpc", { "grpc-encoding": "identity", "grpc-accept-encoding": "gzip" }],
  [evaluate.name, "application/grpc", { "grpc-timeout": "10S" }],
])("answers %s as %s with %o", async (call, type, headers) => {
  const { base, given } = await start();
  const answer = await askOverWire(base, { path: pathOf(call), headers, body: [enveloped(message)] }, type);
  expect(Object.entries(answer.trailers)).toEqual([["grpc-status", "0"]]);
  expect(answer.body).toContain("here");
  expect(given).toEqual([]);
});

test.each([
  ["JSON", evaluate.name, "application/grpc+json", {}],
  ["a parameter", evaluate.name, "application/grpc; charset=utf-8", {}],
  ["gRPC-Web", evaluate.name, "application/grpc-web+proto", {}],
  ["Connect", evaluate.name, "application/proto", {}],
  ["an encoding", evaluate.name, "application/grpc", { "grpc-encoding": "gzip" }],
  ["a time that cannot be read", evaluate.name, "application/grpc", { "grpc-timeout": "soon" }],
  ["GET", evaluate.name, "application/grpc", { ":method": "GET" }],
  ["a request that is decoded in pieces", evaluateBatch.name, "application/grpc", {}],
  ["what there is not", "Devaluate", "application/grpc", {}],
])("gives Connect, unread: %s", async (_, call, type, headers) => {
  const { base, given } = await start();
  await askOverWire(base, { path: pathOf(call), headers, body: [] }, type);
  expect(given).toEqual([undefined]);
});

test.each([
  ["packed", enveloped(message, 1)],
  ["cut off", enveloped(message).subarray(0, -1)],
  ["not a message", enveloped(Buffer.from("none"))],
  ["two", Buffer.concat([enveloped(message), enveloped(message)])],
  ["too large", enveloped(Buffer.alloc(1001))],
])("gives Connect what it has read of a message that is %s", async (_, body) => {
  const { base, given } = await start();
  await askOverWire(base, { path: pathOf(evaluate.name), body: [body] }, "application/grpc");
  expect(given).toEqual([body.toString("latin1")]);
});

test("lets nobody in whom the entrance refuses, and reads nothing of them", async () => {
  const refused = () => {
    throw new KibitzError("invalid_api_key", "There is no such key.");
  };
  const bodies = {
    countOf(): never {
      throw new Error("it was read");
    },
    inflate: () => expect.fail("it was inflated"),
  };
  const { base, given } = await start({ enter: refused, bodies });
  const body = [enveloped(message)];
  const { headers, trailers } = await askOverWire(
    base,
    { path: pathOf(evaluate.name), body },
    "application/grpc",
  );
  expect(headers).toMatchObject({ ":status": 200, "content-type": "application/grpc+proto" });
  expect(trailers).toMatchObject({ "grpc-status": "16", "grpc-message": "There is no such key." });
  expect(given).toEqual([]);
});

test("tells and counts where there is no room for a body", async () => {
  const counted: string[] = [];
  const entry = {
    account: localAccount,
    check() {},
    isLimited() {},
    refused: async (error: KibitzError) => void counted.push(error.code),
  };
  const { base } = await start({
    enter: async () => entry,
    bodies: createBodyBudget({ maxBytes: 10, freeBytes: 1 }),
  });
  const body = [enveloped(message), enveloped(message)];
  const { trailers } = await askOverWire(base, { path: pathOf(evaluate.name), body }, "application/grpc");
  expect(trailers).toMatchObject({ "grpc-status": "14" });
  expect(counted).toEqual(["overloaded"]);
});

test("answers also where a refusal cannot be counted", async () => {
  const entry = {
    account: localAccount,
    check() {},
    isLimited() {},
    refused: () => Promise.reject(new Error("nobody expects this")),
  };
  const { base } = await start({
    enter: async () => entry,
    bodies: createBodyBudget({ maxBytes: 10, freeBytes: 1 }),
  });
  const body = [enveloped(message), enveloped(message)];
  const { headers } = await askOverWire(base, { path: pathOf(evaluate.name), body }, "application/grpc");
  expect(headers).toMatchObject({ ":status": 500 });
});

test("packs of a stream what is long, where its reader takes that", async () => {
  const { base } = await start();
  const request = { path: pathOf(streamEvaluate.name), body: [enveloped(message)] };
  const headers = { "grpc-accept-encoding": "gzip" };
  const packed = Buffer.from(
    (await askOverWire(base, { ...request, headers }, "application/grpc")).body,
    "latin1",
  );
  const whole = Buffer.from((await askOverWire(base, request, "application/grpc")).body, "latin1");
  const second = 5 + packed.readUInt32BE(1);
  expect([packed.readUInt8(0), packed.readUInt8(second)]).toEqual([0, 1]);
  expect(gunzipSync(packed.subarray(second + 5))).toEqual(whole.subarray(second + 5));
});
