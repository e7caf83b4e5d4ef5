import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { getDefaultHighWaterMark, setDefaultHighWaterMark } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createListener } from "../../src/http/listener/listener.ts";
import type { NodeRequest, RequestHandler } from "../../src/http/message.ts";
import { exchange, open, problemOf, sendByteByByte } from "../support/raw-http.ts";
import { http2Get } from "./http2-get.ts";
import { startListener, unlimitedListener } from "./start-listener.ts";

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const last = "Connection: close\r\n";

/** Creates a handler that passes every response object to the test. The test then sends the response. */
const answerWith =
  (take: (res: ServerResponse) => void): RequestHandler =>
  (_, res) => {
    take(res as ServerResponse);
    return true;
  };

describe("one port", () => {
  test("the same port accepts HTTP/1.1 and HTTP/2", async () => {
    const { base } = await startListener();
    expect(await (await fetch(`${base}/healthz`)).json()).toEqual({ status: "ok" });
    expect(await http2Get(base, { ":path": "/healthz" })).toMatchObject({
      status: 200,
      body: '{"status":"ok"}\n',
    });
  });

  test("the server reads HTTP/1.1 requests that arrive byte by byte", async () => {
    const { port } = await startListener();
    const { socket, closed } = await open(port);
    await sendByteByByte(socket, get("/healthz", last));
    expect(await closed).toMatch(/^HTTP\/1.1 200 OK/);
  });

  test("the server does not mistake methods that begin with P for the HTTP/2 preface", async () => {
    const { port } = await startListener();
    for (const method of ["POST", "PUT", "PROPFIND"]) {
      const answer = await exchange(port, `${method} /healthz HTTP/1.1\r\nHost: x\r\n${last}\r\n`);
      expect(problemOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  });

  test("the server reads HTTP/2 requests that arrive byte by byte", async () => {
    const { port } = await startListener();
    const { socket, received } = await open(port);
    // The HTTP/2 preface, an empty SETTINGS frame, and a HEADERS frame of `GET /healthz` for the host x.
    const path = Buffer.concat([Buffer.of(0x04, 8), Buffer.from("/healthz")]);
    const block = Buffer.concat([Buffer.of(0x82, 0x86), path, Buffer.of(0x01, 1, 0x78)]);
    await sendByteByByte(
      socket,
      Buffer.concat([
        Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Buffer.of(0, 0, 0, 4, 0, 0, 0, 0, 0),
        Buffer.of(0, 0, block.length, 1, 5, 0, 0, 0, 1),
        block,
      ]),
    );
    await expect.poll(received).toContain('{"status":"ok"}');
    socket.destroy();
  });

  test("the server answers 17 pipelined requests in order on one connection", async () => {
    const { port } = await startListener();
    const answer = await exchange(
      port,
      `${(get("/healthz") + get("/nope")).repeat(8)}${get("/healthz", last)}`,
    );
    expect(answer.match(/HTTP\/1.1 \d+/g)).toEqual([
      ...Array.from({ length: 16 }, (_, index) => `HTTP/1.1 ${index % 2 === 0 ? 200 : 404}`),
      "HTTP/1.1 200",
    ]);
    expect(answer.match(/Connection: close/g)).toHaveLength(1);
  });

  test("a pipelined CONNECT request is not answered", async () => {
    const answering = Promise.withResolvers<ServerResponse>();
    const { port } = await startListener([answerWith(answering.resolve)]);
    const answer = exchange(port, `${get("/slow")}CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n`);
    (await answering.promise).end("slow");
    expect((await answer).match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
  });

  test("a client that pipelines too many requests and never closes its connection does not delay the stop of the server", async () => {
    const answering = Promise.withResolvers<ServerResponse>();
    const { listener, port } = await startListener([answerWith(answering.resolve)]);
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    onTestFinished(() => void socket.destroy());
    socket.on("error", () => {}).resume();
    socket.write(get("/slow"));
    const res = await answering.promise;
    res.write("begun");
    socket.write(get("/healthz").repeat(40));
    await sleep(50);
    res.end();
    await listener.stop();
  });

  test("the server keeps a connection open for the next request, even after a refusal", async () => {
    const { port } = await startListener();
    const { socket, received } = await open(port);
    socket.write("POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody");
    await expect.poll(received).toContain("404");
    socket.write(get("/healthz"));
    await expect.poll(received).toContain("200 OK");
    socket.destroy();
  });

  test.each(["the first", "a later"])(
    "the server stops reading the body of %s request while the handler does not read",
    async (which) => {
      const usual = getDefaultHighWaterMark(false);
      onTestFinished(() => setDefaultHighWaterMark(false, usual));
      // The first packet is larger than this limit, which `main.ts` also sets.
      setDefaultHighWaterMark(false, 16 * 1024);
      const held = Promise.withResolvers<NodeRequest>();
      const hold: RequestHandler = (req) => {
        if (req.url !== "/held") {
          return false;
        }
        held.resolve(req.on("data", () => {}).pause());
        return true;
      };
      const { port } = await startListener([hold]);
      const { socket, received } = await open(port);
      if (which === "a later") {
        socket.write(get("/healthz"));
        await expect.poll(received).toContain("200 OK");
      }
      const bytes = 32 * 1024 * 1024;
      const head = `POST /held HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`;
      socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(bytes)]));
      const req = await held.promise;
      await sleep(300);
      expect(req.socket.bytesRead).toBeLessThan(512 * 1024);
      socket.destroy();
    },
  );

  test("listening resolves with the port, and rejects if the port is in use", async () => {
    const { port } = await startListener();
    const second = createListener(unlimitedListener);
    await expect(second.listen("127.0.0.1", port)).rejects.toThrow("EADDRINUSE");
    await second.stop();
  });
});

describe("a handler", () => {
  test("a handler gets only requests that earlier handlers did not answer", async () => {
    const { base } = await startListener([
      (req, res) => req.url === "/mine" && Boolean(res.end("first")),
      (_req, res) => Boolean(res.end("second")),
    ]);
    expect(await (await fetch(`${base}/mine`)).text()).toBe("first");
    expect(await (await fetch(`${base}/other`)).text()).toBe("second");
  });

  test("if a handler throws, the request gets 500, the error is logged, and other requests are answered", async () => {
    const bug = new Error("bug");
    const { base, errors } = await startListener([
      (req) => {
        if (req.url === "/bug") {
          throw bug;
        }
        return false;
      },
    ]);
    const answer = await fetch(`${base}/bug`);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ code: "internal", next_action: "retry_now" });
    expect(errors).toMatchObject([{ err: bug, method: "GET", request: "/bug" }]);
    expect(await http2Get(base, { ":path": "/bug" })).toMatchObject({ status: 500 });
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
  });

  test("if a handler throws in the middle of a response, the response is aborted", async () => {
    const { base } = await startListener([
      (_req, res) => {
        (res as ServerResponse).write("half");
        throw new Error("bug");
      },
    ]);
    await expect(fetch(base).then((answer) => answer.text())).rejects.toThrow("terminated");
    await expect(http2Get(base, { ":path": "/" })).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
  });

  test("a handler that writes after the end of its response does not crash the process", async () => {
    const { base, errors } = await startListener([
      (req, res) => {
        if (req.url !== "/bug") {
          return false;
        }
        res.end("done");
        (res as NodeJS.WritableStream).write("more");
        return true;
      },
    ]);
    expect(await (await fetch(`${base}/bug`)).text()).toBe("done");
    // The server aborts the stream, so that a partial response does not look complete.
    await expect(http2Get(base, { ":path": "/bug" })).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
    // Node emits this error over HTTP/2 only on the request. The server does not log errors of requests.
    expect(errors).toMatchObject([{ err: { code: "ERR_STREAM_WRITE_AFTER_END" } }]);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
  });

  test("the timeout for receiving a request does not limit how long the handler takes", async () => {
    const limits = { headersTimeoutMs: 100, requestTimeoutMs: 150, checkIntervalMs: 20 };
    const { base } = await startListener(
      [(_req, res) => Boolean(setTimeout(() => res.end("at last"), 400))],
      limits,
    );
    const http1 = fetch(base, { method: "POST", body: "x" }).then((answer) => answer.text());
    const http2 = http2Get(base, { ":path": "/", ":method": "POST" }, "x");
    expect(await http1).toBe("at last");
    expect(await http2).toMatchObject({ body: "at last" });
  });
});

describe("slow connections", () => {
  const limits = {
    headersTimeoutMs: 100,
    requestTimeoutMs: 150,
    checkIntervalMs: 20,
    keepAliveTimeoutMs: 100,
    silenceTimeoutMs: 200,
  };

  test.each([
    ["nothing", ""],
    ["half an HTTP/2 preface", "PRI * HTTP/2.0\r\n"],
  ])("an idle connection that has sent %s is closed", async (_, bytes) => {
    const { port } = await startListener([], limits);
    expect(await exchange(port, bytes)).toBe("");
  });

  test.each([
    ["half a request line", "GET /hea"],
    ["half a header", "GET /healthz HTTP/1.1\r\nHos"],
    ["half a body", "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"],
  ])("a connection that has sent only %s gets 408", async (_, bytes) => {
    const { port } = await startListener([(req) => req.url === "/slow"], limits);
    const answer = problemOf(await exchange(port, bytes));
    expect(answer).toMatchObject({ status: 408, code: "request_timeout" });
    expect(answer.head).toContain("Connection: close");
  });

  test("an HTTP/2 request whose body does not arrive in time gets 408", async () => {
    const answerLate: RequestHandler = (req, res) => {
      if (req.url !== "/slow") {
        return false;
      }
      req.resume().once("close", () => (res as ServerResponse).writeHead(200).end("late"));
      return true;
    };
    const { base } = await startListener([answerLate], limits);
    const client = connectHttp2(base);
    onTestFinished(() => client.destroy());
    const stream = client.request({ ":path": "/slow", ":method": "POST" });
    stream.write("half");
    const [headers] = await once(stream, "response");
    expect(headers[":status"]).toBe(408);
    expect(JSON.parse(String((await once(stream, "data"))[0]))).toMatchObject({ code: "request_timeout" });
    await once(stream, "close");
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
  });

  test("a connection that sends only an HTTP/2 preface is closed", async () => {
    const { port } = await startListener([], limits);
    expect(await exchange(port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")).not.toBe("");
  });

  test.each([
    ["headers without an end over HTTP/2", [headersFrame(1, false)]],
    [
      "headers over HTTP/2 that come byte by byte",
      Array.from(headersFrame(1, true), (byte) => Buffer.of(byte)),
    ],
    [
      "pings and nothing else",
      Array.from({ length: 100 }, () => Buffer.from(`000008060000000000${"00".repeat(8)}`, "hex")),
    ],
  ])("a connection that sends %s is closed", async (_, pieces) => {
    const { port } = await startListener([], limits);
    const { socket, closed } = await open(port);
    socket.write(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1"));
    let written = 0;
    for (const piece of pieces) {
      if (!socket.writable) {
        break;
      }
      socket.write(piece);
      written++;
      await sleep(50);
    }
    await closed;
    // The server closed the connection before everything was sent.
    expect(written).toBeLessThan(Math.max(pieces.length, 2));
  });

  test("an idle connection is closed", async () => {
    const { port } = await startListener([], { ...limits, keepAliveTimeoutMs: 1 });
    expect(await exchange(port, get("/healthz"))).toContain("200 OK");
  });

  test("a connection that ends in the middle of a request logs no error", async () => {
    const { port, base, errors } = await startListener([(req) => req.url === "/slow"]);
    for (const bytes of ["", "P", "PRI * HTTP/2.0\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", get("/slow")]) {
      const { socket } = await open(port);
      socket.write(bytes);
      await sleep(10);
      socket.resetAndDestroy();
      const { socket: polite, closed } = await open(port);
      polite.end(bytes);
      await closed;
    }
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
    expect(errors).toEqual([]);
  });
});

/** Returns an HTTP/2 HEADERS frame of the request `GET /`, with one long header. */
function headersFrame(stream: number, ended: boolean): Buffer {
  const value = Buffer.concat([Buffer.of(0, 1, 0x61, 100), Buffer.alloc(100, "b")]);
  const block = Buffer.concat([Buffer.of(0x82, 0x86, 0x84, 0x01, 1, 0x78), value]);
  return Buffer.concat([Buffer.of(0, 0, block.length, 1, ended ? 5 : 1, 0, 0, 0, stream), block]);
}

test("the connection of a client that cancels HTTP/2 requests too fast is closed", async () => {
  const { base } = await startListener([(req) => req.url === "/slow"], { streamResetsBurst: 20 });
  const client = connectHttp2(base);
  onTestFinished(() => client.destroy());
  client.on("error", () => {});
  const goaway = once(client, "goaway");
  for (let sent = 0; sent < 200 && !client.destroyed; sent += 1) {
    const stream = client.request({ ":path": "/slow" });
    stream.on("error", () => {});
    stream.close(8);
    if (sent % 10 === 0) {
      await sleep(1);
    }
  }
  expect((await goaway)[0]).toBeGreaterThan(0);
  expect((await fetch(`${base}/healthz`)).status).toBe(200);
});
