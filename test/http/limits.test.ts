import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { ListenerOptions } from "../../src/http/listener/listener.ts";
import type { NodeResponse, RequestHandler } from "../../src/http/message.ts";
import { open, problemOf } from "../support/raw-http.ts";
import { startListener } from "./start-listener.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

type Limits = NonNullable<ListenerOptions["limits"]>;
type Client = Awaited<ReturnType<typeof open>>;

/** Starts a server that never responds to requests for `/busy`. */
async function start(limits: Limits, more: Partial<ListenerOptions> = {}) {
  const busy: NodeResponse[] = [];
  const handler: RequestHandler = (req, res) => {
    if (req.url === "/busy") {
      req.resume();
      busy.push(res);
      return true;
    }
    return false;
  };
  const started = await startListener([handler], limits, [], more);
  const enter = async (from: string, bytes = "") => {
    const client = await open(started.port, from);
    onTestFinished(() => void client.socket.destroy());
    client.socket.write(bytes);
    return client;
  };
  const openBusy = async (from: string) => {
    const before = busy.length;
    const client = await enter(from, get("/busy"));
    await expect.poll(() => busy.length).toBe(before + 1);
    return client;
  };
  return { ...started, busy, enter, openBusy };
}

async function ask({ socket, received }: Client, path = "/healthz"): Promise<string> {
  const before = received().length;
  socket.write(get(path));
  await expect.poll(() => received().slice(before)).toMatch(/\r\n\r\n[\s\S]+\n$/);
  return received().slice(before);
}

function http2From(base: string, from: string): ClientHttp2Session {
  const port = Number(new URL(base).port);
  const client = connectHttp2(base, {
    createConnection: () => connect({ port, host: "127.0.0.1", localAddress: from }),
  });
  onTestFinished(() => client.destroy());
  return client;
}

const isOpen = ({ socket }: Client) => !socket.closed && !socket.readableEnded;

async function expectAnswered(clients: readonly Client[]): Promise<void> {
  for (const client of clients) {
    expect(await ask(client)).toContain("200 OK");
  }
}

describe("connections", () => {
  test("connections beyond the limit of an address are closed without a response, and other addresses can still connect", async () => {
    const { enter, warnings } = await start({}, { connectionsPerAddress: 3 });
    const own = [await enter("127.0.0.2"), await enter("127.0.0.2"), await enter("127.0.0.2")];
    for (let count = 0; count < 3; count++) {
      const more = await enter("127.0.0.2", get("/healthz"));
      expect(await more.closed).toBe("");
    }
    const others = [await enter("127.0.0.3"), await enter("127.0.0.3"), await enter("127.0.0.3")];
    await expectAnswered([...own, ...others]);
    expect(warnings).toEqual([expect.stringMatching(/KIBITZ_TRUST_PROXY.*KIBITZ_CONNECTIONS_PER_ADDRESS/)]);
  });

  test.each([
    ["silent", ""],
    ["in the middle of its headers", "GET /healthz HTTP/1.1\r\nHos"],
    ["answered", get("/healthz")],
    ["in the middle of the HTTP/2 preface", "PRI * HTTP/2.0\r\n"],
    ["silent over HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"],
  ])("a connection that is %s counts towards the limit of its address until it closes", async (_, bytes) => {
    const { enter } = await start({}, { connectionsPerAddress: 1 });
    for (let round = 0; round < 3; round++) {
      const first = await enter("127.0.0.2");
      first.socket.write(Buffer.from(bytes, "latin1"));
      await sleep(50);
      const second = await enter("127.0.0.2");
      await second.closed;
      expect(isOpen(first)).toBe(true);
      first.socket.destroy();
      await first.closed;
      await sleep(20);
    }
  });

  test("addresses for which callerOf returns the same name share one connection limit", async () => {
    const { enter } = await start({}, { connectionsPerAddress: 1, callerOf: () => "one network" });
    const first = await enter("127.0.0.2");
    await (await enter("127.0.0.3")).closed;
    await expectAnswered([first]);
  });

  test("while the server has the maximum number of connections, new connections are closed", async () => {
    const { enter, openBusy, busy, warnings } = await start({ connectionsMax: 3 });
    const working = await openBusy("127.0.0.2");
    const silent = [await enter("127.0.0.3"), await enter("127.0.0.4")];
    for (let count = 0; count < 3; count++) {
      expect(await (await enter("127.0.0.5", get("/healthz"))).closed).toBe("");
    }
    silent[0]?.socket.destroy();
    await silent[0]?.closed;
    await expect.poll(async () => isOpen(await enter("127.0.0.5"))).toBe(true);
    busy[0]?.end("done");
    await expect.poll(working.received).toContain("done");
    expect(warnings).toEqual([expect.stringContaining("all connections are taken")]);
  });
});

describe("concurrent calls", () => {
  function http2CallerOf(base: string) {
    const resetCodes: number[] = [];
    const startCalls = (from: string, calls: number, headers = {}, path = "/busy") => {
      const client = http2From(base, from);
      client.on("error", () => {});
      for (let count = 0; count < calls; count++) {
        const call = client.request({ ":path": path, ...headers }).resume();
        call.on("error", () => {}).on("close", () => resetCodes.push(call.rstCode));
      }
      return client;
    };
    return { startCalls, resetCodes };
  }

  test("the server keeps running when clients disconnect while their HTTP/2 streams are being refused", async () => {
    const { base, busy } = await start({}, { callsPerCaller: () => 1 });
    const { startCalls } = http2CallerOf(base);
    startCalls("127.0.0.2", 1);
    await expect.poll(() => busy.length).toBe(1);
    for (const delayMs of [0, 1, 20]) {
      const client = http2From(base, "127.0.0.2");
      client.on("error", () => {});
      await once(client, "connect");
      const post = client.request({ ":path": "/busy", ":method": "POST" }).on("error", () => {});
      post.write("half");
      await sleep(delayMs);
      client.destroy();
      await once(client, "close");
    }
    // An unhandled error event would have ended the process.
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
  });

  test("the limit of a caller's concurrent calls applies to all connections of the caller over HTTP/1.1 and HTTP/2", async () => {
    const { base, busy, enter, openBusy, warnings } = await start({}, { callsPerCaller: () => 3 });
    const { startCalls, resetCodes } = http2CallerOf(base);
    startCalls("127.0.0.2", 2);
    await expect.poll(() => busy.length).toBe(2);
    await openBusy("127.0.0.2");
    startCalls("127.0.0.2", 2);
    await expect.poll(() => resetCodes).toEqual([7, 7]);
    const refused = await enter("127.0.0.2");
    const problem = problemOf(await ask(refused, "/busy"));
    expect(problem).toMatchObject({ status: 429, code: "concurrency_limited" });
    expect(problem.head).toContain("Retry-After: 1");
    expect(busy).toHaveLength(3);
    expect(await ask(refused)).toContain("200 OK");
    startCalls("127.0.0.2", 1, {}, "/healthz");
    await expect.poll(() => resetCodes).toEqual([7, 7, 0]);
    startCalls("127.0.0.3", 2);
    await expect.poll(() => busy.length).toBe(5);
    busy[0]?.end();
    await expect.poll(() => resetCodes).toEqual([7, 7, 0, 0]);
    startCalls("127.0.0.2", 1);
    await expect.poll(() => busy.length).toBe(6);
    expect(warnings).toEqual([expect.stringContaining("KIBITZ_CONNECTIONS_PER_ADDRESS")]);
  });

  test("cancelled HEAD requests over HTTP/2 no longer count towards the limit of concurrent calls", async () => {
    const { base, busy } = await start({}, { callsPerCaller: () => 3 });
    const { startCalls, resetCodes } = http2CallerOf(base);
    const client = http2From(base, "127.0.0.2");
    client.on("error", () => {});
    const head = () => client.request({ ":method": "HEAD", ":path": "/busy" }).on("error", () => {});
    for (let count = 0; count < 3; count++) {
      head().close(8);
    }
    const underWay = [head(), head(), head()];
    await expect.poll(() => busy.length).toBe(3);
    const closed = busy.map((res) => once(res, "close"));
    underWay[0]?.close(8);
    underWay[1]?.close(8);
    client.destroy();
    await Promise.all(closed);
    startCalls("127.0.0.2", 3);
    await expect.poll(() => busy.length).toBe(6);
    expect(resetCodes).toEqual([]);
  });

  test("calls beyond the server's limit of concurrent calls are refused, but health probes are answered", async () => {
    const { base, busy, enter, warnings } = await start({ callsMax: 2 });
    const { startCalls, resetCodes } = http2CallerOf(base);
    startCalls("127.0.0.2", 2);
    await expect.poll(() => busy.length).toBe(2);
    startCalls("127.0.0.3", 1);
    await expect.poll(() => resetCodes).toEqual([7]);
    const other = await enter("127.0.0.4");
    expect(problemOf(await ask(other, "/busy"))).toMatchObject({ status: 503, code: "overloaded" });
    expect(await ask(other)).toContain("200 OK");
    expect(warnings).toEqual(["as many calls are under way as the service takes: more are refused"]);
  });

  test("many addresses together leave calls for another address", async () => {
    const { base, busy } = await start({ callsMax: 200 }, { callsPerCaller: () => 50 });
    const { startCalls, resetCodes } = http2CallerOf(base);
    for (let count = 1; count <= 12; count++) {
      startCalls(`127.0.1.${count}`, 50);
    }
    await expect.poll(() => busy.length + resetCodes.length).toBe(12 * 50);
    const before = busy.length;
    expect(before).toBeLessThan(200);
    startCalls("127.0.0.9", 1);
    await expect.poll(() => busy.length).toBe(before + 1);
  });

  test("a client that keeps starting calls beyond the limit is disconnected", async () => {
    const { base, busy } = await start({ streamsRefusedMax: 5 }, { callsPerCaller: () => 1 });
    const { startCalls, resetCodes } = http2CallerOf(base);
    const patient = startCalls("127.0.0.2", 6);
    await expect.poll(() => resetCodes).toEqual([7, 7, 7, 7, 7]);
    expect(patient.destroyed).toBe(false);
    const goaway = once(patient, "goaway");
    patient.request({ ":path": "/busy" }).on("error", () => {});
    expect((await goaway)[0]).toBe(0);
    // The server first answers the call that is already running.
    busy[0]?.end("done");
    await once(patient, "close");
  });
});

describe("pipelined requests over HTTP/1.1", () => {
  test("pipelined requests over HTTP/1.1 are handled one after another", async () => {
    const { enter, busy } = await start({});
    const client = await enter("127.0.0.2", get("/busy").repeat(3) + get("/healthz"));
    for (const count of [1, 2, 3]) {
      await expect.poll(() => busy.length).toBe(count);
      await sleep(150);
      expect(busy).toHaveLength(count);
      busy.at(-1)?.end(`answer ${count}`);
    }
    await expect.poll(client.received).toMatch(/answer 1[\s\S]*answer 2[\s\S]*answer 3[\s\S]*"ok"/);
  });

  test("pipelined requests with bodies are read correctly if they arrive in pieces", async () => {
    const { port } = await startListener([
      (req, res) => {
        let text = "";
        req.on("data", (part) => {
          text += part;
        });
        req.on("end", () => setTimeout(() => res.end(`[${text}]`), 5));
        return true;
      },
    ]);
    const { socket, received } = await open(port);
    onTestFinished(() => void socket.destroy());
    const bodies = ["a", "b".repeat(1500), "", "\r\n\r\n".repeat(700), "c".repeat(40_000), "d"];
    const bytes = bodies
      .map((body) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
      .join("");
    for (let at = 0; at < bytes.length; at += 700) {
      socket.write(bytes.slice(at, at + 700));
      await sleep(0);
    }
    await expect.poll(() => received().match(/\[[^\]]*\]/g)).toEqual(bodies.map((body) => `[${body}]`));
  });

  test.each([
    ["closes", (socket: Socket) => socket.end()],
    ["resets", (socket: Socket) => socket.resetAndDestroy()],
  ])(
    "the server notices that a caller %s the connection while pipelined requests of this caller wait",
    async (_, leave) => {
      const { enter, busy } = await start({});
      const { socket } = await enter("127.0.0.2", get("/busy") + get("/healthz").repeat(5));
      await expect.poll(() => busy.length).toBe(1);
      const gone = once(busy[0] ?? expect.fail("nothing is under way"), "close");
      leave(socket);
      await gone;
      await sleep(20);
      expect(busy).toHaveLength(1);
    },
  );

  test.each([20, 5000])(
    "a connection with too many waiting pipelined requests is closed after the current response: %i requests",
    async (count) => {
      const { enter, busy } = await start({ requestsWaitingMax: 3 });
      const client = await enter("127.0.0.2", get("/busy") + get("/healthz").repeat(count));
      await expect.poll(() => busy.length).toBe(1);
      await sleep(100);
      busy[0]?.end("done");
      const answers = await client.closed;
      expect(answers).toMatch(/done$/);
      expect(answers.match(/HTTP\/1.1 /g)).toHaveLength(1);
      expect(answers.match(/Connection: close/g)).toHaveLength(1);
    },
  );

  test("a connection whose waiting requests have more than 32 KiB of headers is closed after the current response", async () => {
    const { enter, busy } = await start({});
    const heavy = `GET /healthz HTTP/1.1\r\nHost: x\r\n${"a:b\r\n".repeat(400)}\r\n`;
    const client = await enter("127.0.0.2", get("/busy") + heavy.repeat(2) + get("/healthz"));
    await expect.poll(() => busy.length).toBe(1);
    busy[0]?.end("done");
    await expect.poll(client.received).toMatch(/done[\s\S]*"ok"[\s\S]*"ok"[\s\S]*"ok"/);
    client.socket.write(get("/busy") + heavy.repeat(4));
    await expect.poll(() => busy.length).toBe(2);
    await sleep(100);
    busy[1]?.end("last");
    expect(await client.closed).toMatch(/last$/);
  });

  test("a pipelined request after a request with the header Connection: close is not handled", async () => {
    const { enter, busy } = await start({});
    const last = "GET /busy HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const client = await enter("127.0.0.2", get("/busy") + last + get("/busy"));
    for (const count of [1, 2]) {
      await expect.poll(() => busy.length).toBe(count);
      busy.at(-1)?.end();
    }
    await client.closed;
    await sleep(20);
    expect(busy).toHaveLength(2);
  });
});
