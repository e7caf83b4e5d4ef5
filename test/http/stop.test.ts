import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createListener } from "../../src/http/listener/listener.ts";
import type { NodeResponse, RequestHandler } from "../../src/http/message.ts";
import { exchange, open } from "./exchange.ts";
import { plainListener, startListener } from "./start-listener.ts";

/** Leaves `/slow` unanswered until the test answers it. */
function slowHandler(): { handler: RequestHandler; waiting: NodeResponse[] } {
  const waiting: NodeResponse[] = [];
  return { handler: (req, res) => req.url === "/slow" && waiting.push(res) > 0, waiting };
}

const slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";

describe("a stop", () => {
  test("a stop finishes the answer under way on HTTP/1.1, says so, and closes the connection", async () => {
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

  test("a stop finishes the answer under way on HTTP/2, says goodbye, and closes the connection", async () => {
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

  test("a stop refuses requests over HTTP/2 that are not begun, so that their client or a balancer sends them elsewhere", async () => {
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
    // In one packet.
    const [first, second] = ["/first", "/second"].map((path) => client.request({ ":path": path }));
    first?.resume();
    await expect(once(second ?? client, "close")).rejects.toThrow("NGHTTP2_REFUSED_STREAM");
    expect(begun).toEqual(["/first"]);
  });

  test("a listener that stops takes no new connections", async () => {
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

  test("a stop answers requests on connections that the server has not accepted yet", async () => {
    const { listener, port } = await startListener();
    const clients = Array.from({ length: 50 }, () => connect(port, "127.0.0.1"));
    const answers = clients.map(async (client) => {
      client.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
      return text(client);
    });
    // The sockets connect in the next tick. The kernel completes that at once, and the server accepts in a later turn of the event loop.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    await listener.stop();
    for (const answer of await Promise.all(answers)) {
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*Connection: close/);
    }
  });

  test("a listener that stops answers the request under way, however much comes behind it", async () => {
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

  test("a stop closes connections that are idle, silent or half-way through a preface, and does not wait for them", async () => {
    // By themselves they stay open for longer than this test may take.
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

  test("a listener that stops still ends requests that do not arrive in time", async () => {
    const { listener, port } = await startListener([], { headersTimeoutMs: 200, checkIntervalMs: 20 });
    const answer = exchange(port, "GET /healthz HTTP/1.1\r\nHos");
    await sleep(50);
    await listener.stop();
    expect(await answer).toContain("408");
  });

  test("a stop cuts what is left at its deadline", async () => {
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

  test("a stop may be asked for twice", async () => {
    const { listener, base } = await startListener();
    await Promise.all([listener.stop(), listener.stop()]);
    await expect(fetch(base)).rejects.toThrow("fetch failed");
  });

  test("a stop may be asked for before the listener listens", async () => {
    const listener = createListener(plainListener);
    await listener.stop();
    expect(listener.draining).toBe(true);
  });
});
