import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  createConnectRouter,
  type Transport,
} from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { describe, expect, onTestFinished, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { createBodyBudget } from "../../../src/http/body-budget.ts";
import { createConnectAdapter } from "../../../src/protocols/connect/adapter.ts";
import { refuseCall, unknownMethod } from "../../../src/protocols/connect/refuse-call.ts";
import { stateKey } from "../../../src/protocols/connect/state.ts";
import type { Protocol } from "../../../src/request/context.ts";
import { startListener } from "../../http/start-listener.ts";
import { open } from "../../support/raw-http.ts";

const service = "/chess.analysis.v1.AnalysisService";
const isRpcPath = (path: string) => path.startsWith(`${service}/`);

function createAdapter(router: ConnectRouter) {
  return createConnectAdapter({
    handlers: router.handlers,
    bodies: createBodyBudget(),
  });
}

/** Creates two handlers. ListEngines returns the protocol of the call. StreamEvaluate returns the FEN of the request. */
function analysisRouter(): ConnectRouter {
  return createConnectRouter({ readMaxBytes: 1000 }).service(AnalysisService, {
    listEngines: (_, context) => ({ latest: context.values.get(stateKey).request.protocol }),
    async *streamEvaluate({ fen }) {
      yield { event: { case: "evaluation" as const, value: { fen } } };
    },
  });
}

/** Starts the adapter. Requests that the adapter does not handle go to a handler that refuses unknown calls, as in the app. */
const start = (router = analysisRouter()) =>
  startListener([createAdapter(router), (req, res) => refuseCall(req, res, unknownMethod(req))], {}, ["*"], {
    isRpcPath,
  });

type ClientKind = [string, Protocol, (baseUrl: string) => Transport];
const clients: ClientKind[] = [
  [
    "Connect, binary, HTTP/1.1",
    "connect",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  ],
  [
    "Connect, JSON, HTTP/1.1",
    "connect",
    (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  ],
  ["Connect, HTTP/2", "connect", (baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2" })],
  ["gRPC-Web, HTTP/1.1", "grpc-web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
  ["gRPC-Web, HTTP/2", "grpc-web", (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "2" })],
  ["gRPC", "grpc", (baseUrl) => createGrpcTransport({ baseUrl })],
];

describe.each(clients)("a client of %s", (_, protocol, transportTo) => {
  test("the server detects the protocol of an RPC client, and responds over the same protocol", async () => {
    const { base } = await start();
    const client = createClient(AnalysisService, transportTo(base));
    expect(await client.listEngines({})).toMatchObject({ latest: protocol });
    const stream = [];
    for await (const message of client.streamEvaluate({ fen: "x" })) {
      stream.push(message.event);
    }
    expect(stream).toMatchObject([{ case: "evaluation", value: { fen: "x" } }]);
  });

  // Node's timers treat more than 2^31 ms as 1 ms.
  test.each([
    ["Connect-Timeout-Ms", "2147483648"],
    ["Connect-Timeout-Ms", "9999999999"],
    ["Grpc-Timeout", "597H"],
    ["Grpc-Timeout", "99999999H"],
  ])(
    "an RPC call with a deadline of weeks or years is not aborted early; header %s: %s",
    async (header, value) => {
      const slow = createConnectRouter().rpc(AnalysisService.method.listEngines, async (_, { signal }) => {
        await sleep(20);
        return { latest: signal.aborted ? "late" : "in time" };
      });
      const { base } = await start(slow);
      const client = createClient(AnalysisService, transportTo(base));
      expect(await client.listEngines({}, { headers: { [header]: value } })).toMatchObject({
        latest: "in time",
      });
    },
  );

  test("an RPC client that calls an unknown method gets the error unimplemented with the usual details", async () => {
    const { base } = await start(createConnectRouter().rpc(AnalysisService.method.evaluate, () => ({})));
    const client = createClient(AnalysisService, transportTo(base));
    const headers = { "X-Request-Id": "mine" };
    const unary = await client.listEngines({}, { headers }).catch(ConnectError.from);
    const stream = client.streamEvaluate({}, { headers })[Symbol.asyncIterator]();
    const streamed = await stream.next().catch(ConnectError.from);
    for (const [error, name] of [
      [unary, "ListEngines"],
      [streamed, "StreamEvaluate"],
    ] as const) {
      expect(error).toMatchObject({
        code: Code.Unimplemented,
        rawMessage: `chess.analysis.v1.AnalysisService/${name} is not a method of this service.`,
      });
      expect((error as ConnectError).findDetails(ErrorInfoSchema)).toMatchObject([
        {
          domain: "kibitz",
          reason: "UNIMPLEMENTED",
          metadata: { code: "unimplemented", next_action: "fix_request", request_id: "mine" },
        },
      ]);
    }
  });

  test("an RPC client that sends a body that is 2 kB or 200 kB too large gets an error, and can send more requests", async () => {
    const { base } = await start();
    const client = createClient(AnalysisService, transportTo(base));
    // The server reads the rest of a message for a second. On a busy machine that is too short for megabytes.
    for (const length of [2_000, 200_000]) {
      const fen = "x".repeat(length);
      const exhausted = { code: Code.ResourceExhausted };
      expect(await client.evaluate({ fen }).catch(ConnectError.from)).toMatchObject(exhausted);
      const stream = client.streamEvaluate({ fen })[Symbol.asyncIterator]();
      expect(await stream.next().catch(ConnectError.from)).toMatchObject(exhausted);
    }
    expect(await client.listEngines({})).toMatchObject({ latest: protocol });
  });
});

describe("grpc-js", () => {
  function errorOf(port: number, path: string): Promise<ServiceError | null> {
    const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
    onTestFinished(() => client.close());
    const asIs = (bytes: Buffer) => bytes;
    return new Promise((resolve) => {
      client.makeUnaryRequest(path, asIs, asIs, Buffer.alloc(0), (error) => resolve(error));
    });
  }

  test.each([`${service}/Nope`, "/some.other.Service/Call"])(
    "the client grpc-js gets UNIMPLEMENTED for %s",
    async (path) => {
      const { port } = await start();
      expect(await errorOf(port, path)).toMatchObject({
        code: status.UNIMPLEMENTED,
        details: `${path.slice(1)} is not a method of this service.`,
      });
    },
  );
});

describe("Connect requests by GET", () => {
  test("a Connect request by GET is answered", async () => {
    const { base } = await start();
    const transport = createConnectTransport({ baseUrl: base, httpVersion: "1.1", useHttpGet: true });
    expect(await createClient(AnalysisService, transport).listEngines({})).toMatchObject({
      latest: "connect",
    });
  });

  test.each([
    ["", /needs the query .*: `encoding` and `message` are missing\./],
    ["?message=%7B%7D", /needs the query .*: `encoding` is missing\./],
    ["?encoding=xml&message=%7B%7D", /`encoding` must be json or proto, not "xml"\./],
  ])(
    "a Connect request by GET with the query %j gets an error that names the wrong parameters",
    async (query, detail) => {
      const { base } = await start();
      const answer = await fetch(`${base}${service}/ListEngines${query}`);
      expect(answer.status).toBe(400);
      expect(answer.headers.get("accept-post")).toBeNull();
      expect(await answer.json()).toMatchObject({
        code: "malformed_http",
        next_action: "fix_request",
        detail: expect.stringMatching(detail),
      });
    },
  );

  test("a Connect request by GET needs only the parameters encoding and message", async () => {
    const { base } = await start();
    const answer = await fetch(`${base}${service}/ListEngines?encoding=json&message=%7B%7D`);
    expect(await answer.json()).toEqual({ latest: "connect" });
  });
});

describe("requests that get a problem document", () => {
  const post = (base: string, path: string, type: string) =>
    fetch(base + path, { method: "POST", body: "{}", headers: { "content-type": type } });

  test("an RPC request with a wrong content type gets a problem document with the accepted types", async () => {
    const { base } = await start();
    const unary = await post(base, `${service}/ListEngines`, "text/plain");
    expect(unary.status).toBe(415);
    expect(unary.headers.get("accept-post")).toBe(
      "application/json, application/proto, application/grpc-web, application/grpc",
    );
    expect(await unary.json()).toMatchObject({
      code: "unsupported_media_type",
      detail: expect.stringContaining("Content-Type: application/json."),
    });
    const stream = await post(base, `${service}/StreamEvaluate`, "application/json");
    expect(stream.status).toBe(415);
    expect(await stream.json()).toMatchObject({
      detail: expect.stringContaining("Content-Type: application/connect+json."),
    });
  });

  test("an RPC request with a wrong HTTP method gets a problem document with the accepted methods", async () => {
    const { base } = await start();
    for (const [call, allow] of [
      ["ListEngines", "POST, GET"],
      ["StreamEvaluate", "POST"],
    ]) {
      const answer = await fetch(`${base}${service}/${call}`, { method: "DELETE" });
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe(allow);
      expect(await answer.json()).toMatchObject({ code: "method_not_allowed" });
    }
  });

  test("a bidirectional stream over HTTP/1.1 gets a problem document", async () => {
    const [handler] = analysisRouter().handlers;
    const refuses = Object.assign(async () => ({ status: 505 }), { ...handler, requestPath: "/x.Y/Talk" });
    const adapter = createConnectAdapter({
      handlers: [refuses as UniversalHandler],
      bodies: createBodyBudget(),
    });
    const { base } = await startListener([adapter]);
    const answer = await post(base, "/x.Y/Talk", "application/connect+json");
    expect(answer.status).toBe(400);
    expect(answer.headers.get("connection")).toBe("close");
    expect(await answer.json()).toMatchObject({ detail: expect.stringContaining("HTTP/2") });
  });

  test("a request for an unknown RPC method without an RPC content type gets a problem document", async () => {
    const { base } = await start();
    for (const answer of [
      await fetch(`${base}${service}/Nope`),
      await post(base, `${service}/Nope`, "text/plain"),
      await post(base, "/some.other.Service/Call", "application/json"),
    ]) {
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ code: "not_found" });
    }
  });
});

test("a caller who disconnects aborts only its own call", async () => {
  let begun = 0;
  const aborted: unknown[] = [];
  const router = createConnectRouter().rpc(AnalysisService.method.listEngines, async (_, { signal }) => {
    begun++;
    await once(signal, "abort");
    aborted.push(signal.reason);
    return {};
  });
  const { port, base } = await start(router);
  const { socket } = await open(port);
  socket.write(
    `POST ${service}/ListEngines HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
  );
  const client = createClient(AnalysisService, createGrpcTransport({ baseUrl: base }));
  const leaving = new AbortController();
  const left = client.listEngines({}, { signal: leaving.signal }).catch(ConnectError.from);
  await expect.poll(() => begun).toBe(2);
  socket.destroy();
  await expect.poll(() => aborted).toHaveLength(1);
  leaving.abort();
  expect(await left).toBeInstanceOf(ConnectError);
  await expect.poll(() => aborted).toHaveLength(2);
  expect((await fetch(`${base}/healthz`)).status).toBe(200);
});
