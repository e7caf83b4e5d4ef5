import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createListener } from "../../src/http/listener/listener.ts";
import type { NodeResponse, RequestHandler } from "../../src/http/message.ts";
import { exchange, open } from "../support/raw-http.ts";
import { startListener, unlimitedListener } from "./start-listener.ts";

/** Creates a handler that collects requests to `/slow`. The test answers them later. */
function slowHandler(): { handler: RequestHandler; waiting: NodeResponse[] } {
  const waiting: NodeResponse[] = [];
  return { handler: (req, res) => req.url === "/slow" && waiting.push(res) > 0, waiting };
}

const slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";

describe("a stop", () => {
  test("a stopping server finishes the current HTTP/1.1 response with the header Connection: close, and closes the connection", async () => {
    const { handler, waiting } = slowHandler();
    const { listener, port } = await startListener([handler]);
    const answer = exchange(port, slow);
    await expect.poll(() => waiting).toHaveLength(1);
    expect(listener.draining).toBe(false);
    const stopped = listener.stop();
    expect(listener.draining).toBe(true);
    await sleep(150);
    waiting[0]?.end("finished");
    expect(await answer).toMatch(/Connection: close[\s\S]*finished/);
    await stopped;
  });

  test("a stopping server sends GOAWAY over HTTP/2, finishes the current response, and closes the connection", async () => {
    const { handler, waiting } = slowHandler();
    const { listener, base } = await startListener([handler]);
    const client = connectHttp2(base);
    const stream = client.request({ ":path": "/slow" });
    await expect.poll(() => waiting).toHaveLength(1);
    const goaway = once(client, "goaway");
    const stopped = listener.stop();
    expect((await goaway)[0]).toBe(0);
    waiting[0]?.end("finished");
    expect(String((await once(stream, "data"))[0])).toBe("finished");
    await Promise.all([stopped, once(client, "close")]);
  });

  test("a stopping server refuses waiting HTTP/2 requests with REFUSED_STREAM, so that clients can retry at another server", async () => {
    const begun: string[] = [];
    const { listener, base } = await startListener([
      (req, res) => {
        begun.push(req.url ?? "");
        void listener.stop();
        res.end();
        return true;
      },
    ]);
    const client = connectHttp2(base);
    await once(client, "remoteSettings");
    // Both requests are sent in one packet.
    const [first, second] = ["/first", "/second"].map((path) => client.request({ ":path": path }));
    first?.resume();
    await expect(once(second ?? client, "close")).rejects.toThrow("NGHTTP2_REFUSED_STREAM");
    expect(begun).toEqual(["/first"]);
  });

  test("a stopping server refuses new connections", async () => {
    const { handler, waiting } = slowHandler();
    const { listener, port, base } = await startListener([handler]);
    const answer = exchange(port, slow);
    await expect.poll(() => waiting).toHaveLength(1);
    const stopped = listener.stop();
    const isTaken = () =>
      fetch(`${base}/healthz`)
        .then(() => true)
        .catch(() => false);
    await expect.poll(isTaken).toBe(false);
    waiting[0]?.end();
    await Promise.all([answer, stopped]);
  });

  test("a stopping server still answers requests on connections that were opened before the stop but not accepted yet", async () => {
    const { listener, port } = await startListener();
    const clients = Array.from({ length: 50 }, () => connect(port, "127.0.0.1"));
    const answers = clients.map(async (client) => {
      client.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      return text(client);
    });
    // The sockets connect in the next tick. The kernel completes the connections immediately, but the server accepts them in a
    // later iteration of the event loop.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await listener.stop();
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*Connection: close/);
    }
  });

  test("a stopping server finishes the current request, even if more pipelined requests arrive", async () => {
    const { handler, waiting } = slowHandler();
    const { listener, port } = await startListener([handler]);
    const { socket, received, closed } = await open(port);
    socket.write(slow);
    await expect.poll(() => waiting).toHaveLength(1);
    socket.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    const stopped = listener.stop();
    socket.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
    await sleep(20);
    waiting[0]?.end("finished");
    await Promise.all([closed, stopped]);
    expect(received()).toContain("finished");
  });

  test("a stopping server immediately closes connections that are idle, silent or have sent only half of an HTTP/2 preface", async () => {
    // With these timeouts, connections would stay open for longer than the test may run.
    const ms = 3_600_000;
    const { listener, port, base } = await startListener([], {
      headersTimeoutMs: ms,
      requestTimeoutMs: ms,
      keepAliveTimeoutMs: ms,
      silenceTimeoutMs: ms,
    });
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const [response] = await once(get(`${base}/healthz`, { agent }), "response");
    response.resume();
    const client = connectHttp2(base);
    await Promise.all([once(response, "end"), once(client, "remoteSettings")]);
    const silent = await open(port);
    const half = await open(port);
    half.socket.write("PRI *");
    await listener.stop();
    await Promise.all([silent.closed, half.closed]);
  });

  test("a stopping server still answers incomplete requests with 408 after the timeout", async () => {
    const { listener, port } = await startListener([], { headersTimeoutMs: 200, checkIntervalMs: 20 });
    const answer = exchange(port, "GET /healthz HTTP/1.1\r\nHos");
    await sleep(50);
    await listener.stop();
    expect(await answer).toContain("408");
  });

  test("a stopping server aborts unfinished responses at the deadline of the stop", async () => {
    const { handler, waiting } = slowHandler();
    const { listener, port, base } = await startListener([handler]);
    const answer = exchange(port, slow);
    const client = connectHttp2(base);
    client.on("error", () => {});
    const stream = client.request({ ":path": "/slow" });
    stream.on("error", () => {});
    await expect.poll(() => waiting).toHaveLength(2);
    const left = waiting.map((res) => once(res, "close"));
    await listener.stop(50);
    expect(await answer).toBe("");
    await Promise.all(left);
  });

  test("stopping the server twice has no further effect", async () => {
    const { listener, base } = await startListener();
    await Promise.all([listener.stop(), listener.stop()]);
    await expect(fetch(base)).rejects.toThrow("fetch failed");
  });

  test("a server can be stopped before it listens", async () => {
    const listener = createListener(unlimitedListener);
    await listener.stop();
    expect(listener.draining).toBe(true);
  });
});
