import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, onTestFinished, test } from "vitest";
import { HealthCheckRequestSchema } from "../../gen/grpc/health/v1/health_pb.ts";
import type { NodeResponse, RequestHandler } from "../../src/http/message.ts";
import { createConstantCheck } from "../../src/protocols/connect/constant-check.ts";
import { envelope } from "../support/envelope.ts";
import { open, problemOf } from "../support/raw-http.ts";
import { startListener } from "./start-listener.ts";

const checkPath = "/grpc.health.v1.Health/Check";
const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

const kindOf = (path: string) => {
  if (path.startsWith("/tool")) {
    return "tool";
  }
  return path === "/healthz" || path === "/slow-probe" || path === checkPath ? "probe" : "page";
};

/** Starts a server that answers paths with `slow` only when `held` responses are ended. */
async function start(
  limits: Parameters<typeof startListener>[1],
  more: Parameters<typeof startListener>[3] = {},
) {
  const held: NodeResponse[] = [];
  const slow: RequestHandler = (req, res) => {
    if (req.url?.includes("slow")) {
      held.push(res);
      return true;
    }
    return false;
  };
  const page: RequestHandler = (req, res) => {
    if (req.url === "/page") {
      res.setHeader("Content-Length", 10_000);
      res.end(Buffer.alloc(10_000, "x"));
      return true;
    }
    return false;
  };
  const started = await startListener([slow, page], limits, ["*"], { kindOf, ...more });
  return { ...started, held };
}

function http2From(base: string, from: string): ClientHttp2Session {
  const port = Number(new URL(base).port);
  const client = connectHttp2(base, {
    createConnection: () => connect({ port, host: "127.0.0.1", localAddress: from }),
  });
  client.on("error", () => {});
  onTestFinished(() => client.destroy());
  return client;
}

async function ask(port: number, from: string, path: string, more = ""): Promise<string> {
  const { socket, closed } = await open(port, from);
  socket.write(get(path, `${more}Connection: close\r\n`));
  return closed;
}

describe("probes", () => {
  test("a probe beyond the number in flight of its address has its connection or stream reset, and other addresses are answered", async () => {
    const { base, port, held } = await start({ probesPerAddress: 2 });
    for (let count = 0; count < 2; count++) {
      const { socket } = await open(port, "127.0.0.2");
      onTestFinished(() => void socket.destroy());
      socket.write(get("/slow-probe"));
    }
    await expect.poll(() => held.length).toBe(2);
    expect(await ask(port, "127.0.0.2", "/healthz")).toBe("");
    const stream = http2From(base, "127.0.0.2").request({ ":path": "/healthz" });
    stream.on("error", () => {}).resume();
    await expect.poll(() => stream.rstCode).toBe(constants.NGHTTP2_REFUSED_STREAM);
    expect(await ask(port, "127.0.0.3", "/healthz")).toContain("200 OK");
    held[0]?.destroy();
    await expect.poll(() => ask(port, "127.0.0.2", "/healthz")).toContain("200 OK");
  });

  test("a probe over its rate is answered with its true status, and its connection is then closed", async () => {
    let isDraining = false;
    const { base, port } = await start(
      { probesPerWindow: 3 },
      {
        handlers: [
          (_, res) => {
            res.statusCode = isDraining ? 503 : 200;
            res.end();
            return true;
          },
        ],
      },
    );
    const { socket, received, closed } = await open(port, "127.0.0.2");
    for (let count = 1; count <= 3; count++) {
      socket.write(get("/healthz"));
      await expect.poll(() => received().match(/200 OK/g)?.length).toBe(count);
    }
    expect(received()).not.toContain("Connection: close");
    socket.write(get("/healthz"));
    expect(await closed).toContain("Connection: close");
    isDraining = true;
    expect(await ask(port, "127.0.0.2", "/healthz")).toContain("503 Service Unavailable");
    const client = http2From(base, "127.0.0.2");
    const stream = client.request({ ":path": "/healthz" });
    const [headers] = await once(stream, "response");
    expect(headers[":status"]).toBe(503);
    stream.resume();
    await once(client, "close");
  });

  const names = new Set(["", "chess.Known"]);
  const checkOf = (service: string) =>
    envelope(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service })));

  test.each([
    ["", true, "0", "0000000002" + "0801"],
    ["chess.Known", true, "0", "0000000002" + "0801"],
    ["", false, "0", "0000000002" + "0802"],
    ["chess.Unknown", true, "5", ""],
  ])(
    "over its rate, gRPC's Check of the service '%s' has the true status if ready is %s",
    async (service, ready, status, message) => {
      const answerProbe = createConstantCheck({ path: checkPath, names, ready: () => ready });
      const { base } = await start(
        { probesPerWindow: 0 },
        { answerProbe, isRpcPath: (path) => path === checkPath },
      );
      const client = http2From(base, "127.0.0.2");
      const headers = { ":method": "POST", ":path": checkPath, "content-type": "application/grpc" };
      const call = client.request(headers).on("error", () => {});
      call.end(checkOf(service));
      let trailers: Readonly<Record<string, unknown>> = {};
      const parts: Buffer[] = [];
      call.on("response", (got) => {
        trailers = { ...got, ...trailers };
      });
      call.on("trailers", (got) => {
        trailers = { ...trailers, ...got };
      });
      call.on("data", (part: Buffer) => parts.push(part));
      await once(call, "close");
      expect(trailers["grpc-status"]).toBe(status);
      expect(Buffer.concat(parts).toString("hex")).toBe(message);
      await once(client, "close");
    },
  );

  const checkHeaders = { ":method": "POST", ":path": checkPath, "content-type": "application/grpc" };
  const startChecks = () => {
    const answerProbe = createConstantCheck({ path: checkPath, names, ready: () => true });
    const isRpcPath = (path: string) => path === checkPath;
    return start({ probesPerWindow: 0, probesPerAddress: 1 }, { answerProbe, isRpcPath });
  };

  test.each([
    ["Connect", "application/json", {}, 429, undefined],
    ["Connect with binary messages", "application/proto", {}, 429, undefined],
    ["gRPC-Web", "application/grpc-web+proto", {}, 200, "8"],
    ["gRPC with a compressed message", "application/grpc", { "grpc-encoding": "gzip" }, 200, "8"],
    ["an unknown content type", "text/plain", {}, 429, undefined],
  ])(
    "a Check over %s over its rate is refused before its body arrives, and its connection is closed",
    async (_, type, more, status, grpcStatus) => {
      const { base } = await startChecks();
      const client = http2From(base, "127.0.0.2");
      const call = client.request({ ...checkHeaders, "content-type": type, ...more }, { endStream: false });
      call.on("error", () => {}).resume();
      const [headers] = await once(call, "response");
      expect([headers[":status"], headers["grpc-status"]]).toEqual([status, grpcStatus]);
      await once(client, "close");
    },
  );

  test("a gRPC Check over its rate whose body does not arrive in a second is refused, and leaves its place to another probe", async () => {
    const { base, port } = await startChecks();
    const client = http2From(base, "127.0.0.2");
    const call = client.request(checkHeaders, { endStream: false });
    call.on("error", () => {}).resume();
    const [headers] = await once(call, "response");
    expect(headers["grpc-status"]).toBe("8");
    await once(client, "close");
    expect(await ask(port, "127.0.0.2", "/healthz")).toContain("200 OK");
  });
});

describe("pages, wrong paths and preflights", () => {
  test("pages over the rate of bytes of an address get 429 with Retry-After, and other addresses are answered", async () => {
    const { port } = await start({ pageBytesPerWindow: 25_000 });
    expect(await ask(port, "127.0.0.2", "/page")).toContain("200 OK");
    expect(await ask(port, "127.0.0.2", "/page")).toContain("200 OK");
    const refused = problemOf(await ask(port, "127.0.0.2", "/page"));
    expect(refused).toMatchObject({ status: 429, code: "rate_limited" });
    expect(refused.head).toMatch(/Retry-After: \d+/);
    expect(problemOf(await ask(port, "127.0.0.2", "/nothing"))).toMatchObject({ status: 429 });
    const preflight = "Origin: http://x\r\nAccess-Control-Request-Method: POST\r\n";
    const { socket, closed } = await open(port, "127.0.0.2");
    socket.write(`OPTIONS /v1/eval HTTP/1.1\r\nHost: x\r\n${preflight}Connection: close\r\n\r\n`);
    expect(await closed).toContain("429 Too Many Requests");
    expect(await ask(port, "127.0.0.2", "/healthz")).toContain("200 OK");
    expect(await ask(port, "127.0.0.3", "/page")).toContain("200 OK");
  });

  test("the rate of pages begins anew after its window", async () => {
    const { port } = await start({ pageBytesPerWindow: 1, rateWindowMs: 300 });
    expect(await ask(port, "127.0.0.2", "/page")).toContain("200 OK");
    expect(await ask(port, "127.0.0.2", "/page")).toContain("429");
    await expect.poll(() => ask(port, "127.0.0.2", "/page")).toContain("200 OK");
  });

  test("a preflight counts as a page even if its path is a call", async () => {
    const { port } = await start({ pagesPerAddress: 0 }, { kindOf: () => "call" });
    const { socket, closed } = await open(port);
    socket.write(
      "OPTIONS /v1/eval HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n",
    );
    expect(await closed).toContain("429 Too Many Requests");
    const limited = await startListener([], { pagesPerAddress: 0 }, ["*"], {
      kindOf: () => "call",
    });
    const other = await open(limited.port);
    other.socket.write(get("/busy", "Connection: close\r\n"));
    expect(await other.closed).toContain("404");
  });

  test.each(["/slow-page", "/tool-slow"])(
    "%s beyond the number in flight of its address gets 429",
    async (path) => {
      const { port, held } = await start({ pagesPerAddress: 1, toolsPerAddress: 1 });
      const { socket } = await open(port, "127.0.0.2");
      onTestFinished(() => void socket.destroy());
      socket.write(get(path));
      await expect.poll(() => held.length).toBe(1);
      expect(problemOf(await ask(port, "127.0.0.2", path))).toMatchObject({
        status: 429,
        code: "concurrency_limited",
      });
      expect(await ask(port, "127.0.0.2", "/healthz")).toContain("200 OK");
    },
  );

  test.each([
    [
      "a Transfer-Encoding over HTTP/1.0",
      "GET /page HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ["two Host headers", "GET /page HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"],
  ])("a request with %s over the rate of its address closes its connection", async (_, request) => {
    const { port } = await start({ pageBytesPerWindow: 0 });
    const { socket, closed } = await open(port, "127.0.0.2");
    socket.write(request);
    expect(problemOf(await closed)).toMatchObject({ status: 400, code: "malformed_http" });
  });

  test("an absolute target has the limits of its path", async () => {
    const { port } = await start({ probesPerWindow: 0, pageBytesPerWindow: 0 });
    expect(await ask(port, "127.0.0.2", "http://x/healthz")).toContain("200 OK");
    expect(await ask(port, "127.0.0.2", "http://x/page")).toContain("429");
  });
});

describe("a heap that is nearly full", () => {
  test("refuses calls and pages with 503, answers one probe of each address, and closes answers that nobody reads", async () => {
    let isFull = false;
    const { base, port, held, warnings } = await start({}, { isHeapFull: () => isFull });
    const client = connectHttp2(base, { settings: { initialWindowSize: 0 } });
    client.on("error", () => {});
    onTestFinished(() => client.destroy());
    const unread = client.request({ ":path": "/page" }).on("error", () => {});
    await once(unread, "response");
    isFull = true;
    expect(problemOf(await ask(port, "127.0.0.2", "/page"))).toMatchObject({
      status: 503,
      code: "overloaded",
    });
    expect(await ask(port, "127.0.0.2", "/healthz")).toContain("200 OK");
    const { socket } = await open(port, "127.0.0.2");
    onTestFinished(() => void socket.destroy());
    socket.write(get("/slow-probe"));
    await expect.poll(() => held.length).toBe(1);
    expect(await ask(port, "127.0.0.2", "/healthz")).toBe("");
    await expect.poll(() => unread.rstCode, { timeout: 5000 }).toBe(constants.NGHTTP2_CANCEL);
    expect(warnings).toContainEqual(expect.stringContaining("the heap is nearly full"));
    isFull = false;
    expect(await ask(port, "127.0.0.2", "/page")).toContain("200 OK");
  });
});
