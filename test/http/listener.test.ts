import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { getDefaultHighWaterMark, setDefaultHighWaterMark } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createListener } from "../../src/http/listener/listener.ts";
import type { NodeRequest, RequestHandler } from "../../src/http/message.ts";
import { dribble, exchange, open, problemOf } from "./exchange.ts";
import { http2Get } from "./http2-get.ts";
import { plainListener, startListener } from "./start-listener.ts";

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
const last = "Connection: close\r\n";

/** A handler that takes every request, and leaves the answer to a test. */
const answerWith =
  (take: (res: ServerResponse) => void): RequestHandler =>
  (_, res) => {
    take(res as ServerResponse);
    return true;
  };

describe("one port", () => {
  test("one port speaks HTTP/1.1 and HTTP/2", async () => {
    const { base } = await startListener();
    expect(await (await fetch(`${base}/healthz`)).json()).toEqual({ status: "ok" });
    expect(await http2Get(base, { ":path": "/healthz" })).toMatchObject({
      status: 200,
      body: '{"status":"ok"}\n',
    });
  });

  test("the port understands HTTP/1.1 that arrives byte by byte", async () => {
    const { port } = await startListener();
    const { socket, closed } = await open(port);
    await dribble(socket, get("/healthz", last));
    expect(await closed).toMatch(/^HTTP\/1.1 200 OK/);
  });

  test("the port understands methods that begin like the HTTP/2 preface", async () => {
    const { port } = await startListener();
    for (const method of ["POST", "PUT", "PROPFIND"]) {
      const answer = await exchange(port, `${method} /healthz HTTP/1.1\r\nHost: x\r\n${last}\r\n`);
      expect(problemOf(answer)).toMatchObject({ status: 405, code: "method_not_allowed" });
    }
  });

  test("the port understands HTTP/2 that arrives byte by byte", async () => {
    const { port } = await startListener();
    const { socket, received } = await open(port);
    // Preface, empty SETTINGS, HEADERS for GET http: /healthz of x in HPACK.
    const path = Buffer.concat([Buffer.of(0x04, 8), Buffer.from("/healthz")]);
    const block = Buffer.concat([Buffer.of(0x82, 0x86), path, Buffer.of(0x01, 1, 0x78)]);
    await dribble(
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

  test("the port answers 17 pipelined requests in their order, on one connection", async () => {
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

  test("a CONNECT behind a request is not answered, because that would be taken for the answer to the request", async () => {
    const answering = Promise.withResolvers<ServerResponse>();
    const { port } = await startListener([answerWith(answering.resolve)]);
    const answer = exchange(port, `${get("/slow")}CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n`);
    (await answering.promise).end("slow");
    expect((await answer).match(/HTTP\/1.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
  });

  test("a client that pipelines too much and never closes its end delays no stop", async () => {
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

  test("the port keeps a connection for the next request, also after a refusal", async () => {
    const { port } = await startListener();
    const { socket, received } = await open(port);
    socket.write("POST /nope HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody");
    await expect.poll(received).toContain("404");
    socket.write(get("/healthz"));
    await expect.poll(received).toContain("200 OK");
    socket.destroy();
  });

  test.each(["the first", "a later"])(
    "the port reads only as much of %s request's body as the handler asks for",
    async (which) => {
      const usual = getDefaultHighWaterMark(false);
      onTestFinished(() => setDefaultHighWaterMark(false, usual));
      // `main.ts` sets the same: less than a first packet.
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

  test("a listener reports its port, and rejects if it gets none", async () => {
    const { port } = await startListener();
    const second = createListener(plainListener);
    await expect(second.listen("127.0.0.1", port)).rejects.toThrow("EADDRINUSE");
    await second.stop();
  });
});

describe("a handler", () => {
  test("a handler gets only requests that earlier handlers left", async () => {
    const { base } = await startListener([
      (req, res) => req.url === "/mine" && Boolean(res.end("first")),
      (_req, res) => Boolean(res.end("second")),
    ]);
    expect(await (await fetch(`${base}/mine`)).text()).toBe("first");
    expect(await (await fetch(`${base}/other`)).text()).toBe("second");
  });

  test("a handler that throws costs its caller a 500, which is logged, and no other caller anything", async () => {
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

  test("a handler that throws in the middle of an answer breaks it off", async () => {
    const { base } = await startListener([
      (_req, res) => {
        (res as ServerResponse).write("half");
        throw new Error("bug");
      },
    ]);
    await expect(fetch(base).then((answer) => answer.text())).rejects.toThrow();
    await expect(http2Get(base, { ":path": "/" })).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
  });

  test("a handler that writes after the end does not end the process", async () => {
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
    // Half an answer must not look whole: the call is cut.
    await expect(http2Get(base, { ":path": "/bug" })).rejects.toThrow("NGHTTP2_INTERNAL_ERROR");
    // Over HTTP/2, Node emits the error on the request only, and errors of requests are not logged.
    expect(errors).toMatchObject([{ err: { code: "ERR_STREAM_WRITE_AFTER_END" } }]);
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
  });

  test("a handler may take longer than a request may take to arrive", async () => {
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

describe("connections that waste time", () => {
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
  ])("a connection is closed after %s", async (_, bytes) => {
    const { port } = await startListener([], limits);
    expect(await exchange(port, bytes)).toBe("");
  });

  test.each([
    ["half a request line", "GET /hea"],
    ["half a header", "GET /healthz HTTP/1.1\r\nHos"],
    ["half a body", "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"],
  ])("a connection gets 408 after %s", async (_, bytes) => {
    const { port } = await startListener([(req) => req.url === "/slow"], limits);
    const answer = problemOf(await exchange(port, bytes));
    expect(answer).toMatchObject({ status: 408, code: "request_timeout" });
    expect(answer.head).toContain("Connection: close");
  });

  test("a connection over HTTP/2 gets 408 after half a body, and no second answer", async () => {
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
  ])("a connection of %s is closed", async (_, pieces) => {
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
    // Not for want of more.
    expect(written).toBeLessThan(Math.max(pieces.length, 2));
  });

  test("an idle connection is closed", async () => {
    const { port } = await startListener([], { ...limits, keepAliveTimeoutMs: 1 });
    expect(await exchange(port, get("/healthz"))).toContain("200 OK");
  });

  test("a connection that ends in the middle of anything is forgotten at once", async () => {
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

/** GET http: / of x in HPACK, with a value long enough for many bytes. */
function headersFrame(stream: number, ended: boolean): Buffer {
  const value = Buffer.concat([Buffer.of(0, 1, 0x61, 100), Buffer.alloc(100, "b")]);
  const block = Buffer.concat([Buffer.of(0x82, 0x86, 0x84, 0x01, 1, 0x78), value]);
  return Buffer.concat([Buffer.of(0, 0, block.length, 1, ended ? 5 : 1, 0, 0, 0, stream), block]);
}

test("a client that cancels calls as fast as it can loses its connection", async () => {
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
