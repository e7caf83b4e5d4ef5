import { once } from "node:events";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createCors } from "../../src/http/listener/cors.ts";
import type { ListenerOptions } from "../../src/http/listener/listener.ts";
import type { NodeResponse, RequestHandler } from "../../src/http/message.ts";
import { open, problemOf } from "./exchange.ts";
import { startListener } from "./start-listener.ts";

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const halfBody = "POST /busy HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf";

type Limits = NonNullable<ListenerOptions["limits"]>;
type Client = Awaited<ReturnType<typeof open>>;

/** A listener with a call that goes on until it is told, and one whose answer is too large to wait in any buffer. */
async function start(
  limits: Limits,
  more: Pick<ListenerOptions, "connectionsPerAddress" | "addressOf" | "callerOf" | "callsPerCaller"> = {},
) {
  const busy: NodeResponse[] = [];
  const handler: RequestHandler = (req, res) => {
    if (req.url === "/busy") {
      req.resume();
      busy.push(res);
      return true;
    }
    if (req.url === "/large") {
      res.end(Buffer.alloc(20_000_000));
      return true;
    }
    return false;
  };
  const started = await startListener([handler], limits, createCors([]), more);
  const enter = async (from: string, bytes = "") => {
    const client = await open(started.port, from);
    onTestFinished(() => void client.socket.destroy());
    client.socket.write(bytes);
    return client;
  };
  /** A connection with a call under way. */
  const work = async (from: string) => {
    const before = busy.length;
    const client = await enter(from, get("/busy"));
    await expect.poll(() => busy.length).toBe(before + 1);
    return client;
  };
  return { ...started, busy, enter, work };
}

/** Asks on a connection that is there. */
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

const isOpen = ({ socket }: { socket: Socket }) => !socket.closed && !socket.readableEnded;

async function expectOpen(clients: readonly Client[], expected: readonly boolean[]): Promise<void> {
  await expect.poll(() => clients.map(isOpen)).toEqual(expected);
  // And so it stays.
  await sleep(50);
  expect(clients.map(isOpen)).toEqual(expected);
}

describe("an address that holds as many connections as it may", () => {
  test("an address with all its connections gives the longest idle one for each new one, and other addresses give none", async () => {
    const { enter, warnings } = await start({}, { connectionsPerAddress: 3 });
    const others = [await enter("127.0.0.3"), await enter("127.0.0.3"), await enter("127.0.0.3")];
    const own = [await enter("127.0.0.2"), await enter("127.0.0.2"), await enter("127.0.0.2")];
    await ask(own[0] as Client);
    own.push(await enter("127.0.0.2"));
    await expectOpen(own, [true, false, true, true]);
    own.push(await enter("127.0.0.2"), await enter("127.0.0.2"));
    await expectOpen(own, [false, false, false, true, true, true]);
    await expectOpen(others, [true, true, true]);
    for (const client of [...own.slice(3), ...others]) {
      expect(await ask(client)).toContain("200 OK");
    }
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("KIBITZ_TRUST_PROXY");
  });

  test.each([
    ["silent", ""],
    ["in the middle of its headers", "GET /healthz HTTP/1.1\r\nHos"],
    ["in the middle of its body", halfBody],
    ["taking no answer", get("/large")],
    ["in the middle of the HTTP/2 preface", "PRI * HTTP/2.0\r\n"],
    ["silent over HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"],
  ])("an address with all its connections gives one that is %s", async (_, bytes) => {
    const { enter } = await start({}, { connectionsPerAddress: 1 });
    const first = await enter("127.0.0.2");
    first.socket.pause().write(Buffer.from(bytes, "latin1"));
    await sleep(100);
    const second = await enter("127.0.0.2");
    expect(await ask(second)).toContain("200 OK");
    first.socket.resume();
    await first.closed;
  });

  test("an address with all its connections keeps those in use, and gets only its probe answered on another one", async () => {
    const { enter, work, busy } = await start({}, { connectionsPerAddress: 2 });
    const working = [await work("127.0.0.2"), await work("127.0.0.2")];
    const probe = await enter("127.0.0.2", get("/healthz") + get("/healthz"));
    const answer = await probe.closed;
    expect(answer).toContain("200 OK");
    expect(answer.match(/HTTP\/1.1 /g)).toHaveLength(1);
    expect(answer).toContain("Connection: close");
    const refused = await enter("127.0.0.2", get("/busy"));
    expect(problemOf(await refused.closed)).toMatchObject({ status: 404 });
    expect(busy).toHaveLength(2);
    await expectOpen(working, [true, true]);
    busy[0]?.end("done");
    await expect.poll(() => working[0]?.received()).toContain("done");
    // It is idle now: the next one takes its place.
    await work("127.0.0.2");
    await expectOpen(working, [false, true]);
  });

  test("an address with all its connections gets over HTTP/2 an answer to its probe, and a goodbye", async () => {
    const { base, work } = await start({}, { connectionsPerAddress: 1 });
    await work("127.0.0.2");
    const client = http2From(base, "127.0.0.2");
    const goaway = once(client, "goaway");
    const closed = once(client, "close");
    const call = client.request({ ":path": "/healthz" }).resume();
    expect((await once(call, "response"))[0]).toMatchObject({ ":status": 200 });
    await goaway;
    await closed;
  });

  test("an address may replace all of its connections once, and is then closed unread, without harm to others", async () => {
    const { enter } = await start({ spareConnectionsPerAddress: 2 }, { connectionsPerAddress: 20 });
    const clients: Client[] = [];
    for (let count = 0; count < 60; count++) {
      clients.push(await enter("127.0.0.2"));
    }
    // 20 and 20 in their place, and of the 2 spare ones the same; a few more as time goes by.
    const late = await enter("127.0.0.2", get("/healthz"));
    expect(await late.closed).toBe("");
    expect(clients.filter(isOpen).length).toBeLessThanOrEqual(22);
    expect(clients.slice(50).filter(isOpen).length).toBeLessThan(10);
    expect(await ask(await enter("127.0.0.3"))).toContain("200 OK");
  });

  test("an address is not limited if its connections count only in all", async () => {
    const { enter } = await start({}, { connectionsPerAddress: 1, addressOf: () => undefined });
    const clients = [await enter("127.0.0.2"), await enter("127.0.0.2"), await enter("127.0.0.2")];
    await expectOpen(clients, [true, true, true]);
  });

  test("connections are counted by the name that addressOf gives an address", async () => {
    const { enter } = await start({}, { connectionsPerAddress: 1, addressOf: () => "one network" });
    const clients = [await enter("127.0.0.2"), await enter("127.0.0.3")];
    await expectOpen(clients, [false, true]);
  });
});

describe("where every connection is taken", () => {
  test("if all connections are taken, the address that holds most gives one for a new one", async () => {
    const { enter, warnings } = await start({ connectionsMax: 6 });
    const most: Client[] = [];
    for (let count = 0; count < 4; count++) {
      most.push(await enter("127.0.0.2"));
    }
    const few = [await enter("127.0.0.3"), await enter("127.0.0.4")];
    const news = [await enter("127.0.0.5"), await enter("127.0.0.6")];
    await expectOpen(most, [false, false, true, true]);
    await expectOpen([...few, ...news], [true, true, true, true]);
    expect(warnings).toHaveLength(1);
    for (const client of [...few, ...news]) {
      expect(await ask(client)).toContain("200 OK");
    }
  });

  test("if a hundred addresses hold all connections, no call is cut, and probes are answered", async () => {
    const { enter, busy } = await start({ connectionsMax: 100, spareConnectionsMax: 10 });
    const working: Client[] = [];
    for (let host = 2; host < 102; host++) {
      working.push(await enter(`127.0.1.${host}`, get("/busy")));
    }
    await expect.poll(() => busy.length).toBe(100);
    // They want the spare ones, too.
    for (let host = 2; host < 102; host++) {
      await enter(`127.0.2.${host}`);
    }
    for (const from of ["127.0.0.1", "127.0.3.1", "127.0.1.2", "127.0.2.2"]) {
      const probe = await enter(from, get("/healthz"));
      expect(await probe.closed).toContain("200 OK");
    }
    expect(working.every(isOpen)).toBe(true);
    for (const res of busy) {
      res.end("done");
    }
    await expect.poll(() => working.every(({ received }) => received().includes("done"))).toBe(true);
  });

  test("connections that count only in all are not taken away", async () => {
    const addressOf = (peer: string) => (peer === "127.0.0.9" ? undefined : peer);
    const { enter } = await start({ connectionsMax: 4 }, { addressOf });
    const proxied = [await enter("127.0.0.9"), await enter("127.0.0.9"), await enter("127.0.0.9")];
    const others = [await enter("127.0.0.2"), await enter("127.0.0.3"), await enter("127.0.0.4")];
    await expectOpen([...proxied, ...others], [true, true, true, false, false, true]);
  });

  test("places of closed connections are free again", async () => {
    const { enter, warnings } = await start({ connectionsMax: 3 }, { connectionsPerAddress: 2 });
    for (let round = 0; round < 20; round++) {
      const clients = [await enter("127.0.0.2"), await enter("127.0.0.2"), await enter("127.0.0.3")];
      await Promise.all(clients.map((client) => ask(client)));
      for (const { socket } of clients) {
        socket.destroy();
      }
      await Promise.all(clients.map(({ closed }) => closed));
      await sleep(5);
    }
    expect(warnings).toEqual([]);
  });
});

describe("calls under way", () => {
  /** Begins calls over HTTP/2, and notes the codes that they end with. */
  function beginnerOf(base: string) {
    const codes: number[] = [];
    const begin = (from: string, calls: number, headers = {}, path = "/busy") => {
      const client = http2From(base, from);
      client.on("error", () => {});
      for (let count = 0; count < calls; count++) {
        const call = client.request({ ":path": path, ...headers }).resume();
        call.on("error", () => {}).on("close", () => codes.push(call.rstCode));
      }
      return client;
    };
    return { begin, codes };
  }

  const callerOf: ListenerOptions["callerOf"] = ({ address, forwardedFor }) => forwardedFor ?? address;

  test("calls in flight are bounded for a caller, over all its connections and both protocols", async () => {
    const { base, busy, enter, work, warnings } = await start({}, { callerOf, callsPerCaller: () => 3 });
    const { begin, codes } = beginnerOf(base);
    begin("127.0.0.2", 2);
    await expect.poll(() => busy.length).toBe(2);
    await work("127.0.0.2");
    begin("127.0.0.2", 2);
    await expect.poll(() => codes).toEqual([7, 7]);
    // The listener's own handlers for that answer with 404: there is no other than the probe.
    const refused = await enter("127.0.0.2");
    expect(problemOf(await ask(refused, "/busy"))).toMatchObject({ status: 404 });
    expect(busy).toHaveLength(3);
    expect(await ask(refused)).toContain("200 OK");
    begin("127.0.0.2", 1, {}, "/healthz");
    await expect.poll(() => codes).toEqual([7, 7, 0]);
    begin("127.0.0.3", 2);
    await expect.poll(() => busy.length).toBe(5);
    busy[0]?.end();
    await expect.poll(() => codes).toEqual([7, 7, 0, 0]);
    begin("127.0.0.2", 1);
    await expect.poll(() => busy.length).toBe(6);
    expect(warnings).toEqual([expect.stringContaining("KIBITZ_CONNECTIONS_PER_ADDRESS")]);
  });

  test("calls in flight are given back by HEAD requests that are cancelled over HTTP/2, at any time", async () => {
    const { base, busy } = await start({}, { callerOf, callsPerCaller: () => 3 });
    const { begin, codes } = beginnerOf(base);
    const client = http2From(base, "127.0.0.2");
    client.on("error", () => {});
    const head = () => client.request({ ":method": "HEAD", ":path": "/busy" }).on("error", () => {});
    for (let count = 0; count < 3; count++) {
      // One packet has the headers and the reset.
      head().close(8);
    }
    const underWay = [head(), head(), head()];
    await expect.poll(() => busy.length).toBe(3);
    const closed = busy.map((res) => once(res, "close"));
    underWay[0]?.close(8);
    underWay[1]?.close(8);
    client.destroy();
    await Promise.all(closed);
    begin("127.0.0.2", 3);
    await expect.poll(() => busy.length).toBe(6);
    expect(codes).toEqual([]);
  });

  test("calls in flight are counted by the caller that a proxy forwards for", async () => {
    const { base, busy } = await start({}, { callerOf, callsPerCaller: () => 2 });
    const { begin, codes } = beginnerOf(base);
    begin("127.0.0.9", 3, { "x-forwarded-for": "192.0.2.1" });
    begin("127.0.0.9", 2, { "x-forwarded-for": "192.0.2.2" });
    await expect.poll(() => busy.length).toBe(4);
    await expect.poll(() => codes).toEqual([7]);
  });

  test("calls in flight are bounded in all, and probes are answered beside them", async () => {
    const { base, busy, enter } = await start({ callsMax: 2 });
    const { begin, codes } = beginnerOf(base);
    begin("127.0.0.2", 2);
    await expect.poll(() => busy.length).toBe(2);
    begin("127.0.0.3", 1);
    await expect.poll(() => codes).toEqual([7]);
    expect(await ask(await enter("127.0.0.4"))).toContain("200 OK");
  });

  test("a client that begins more calls than allowed and goes on loses its connection", async () => {
    const { base, busy } = await start({ streamsRefusedMax: 5 }, { callerOf, callsPerCaller: () => 1 });
    const { begin, codes } = beginnerOf(base);
    const patient = begin("127.0.0.2", 6);
    await expect.poll(() => codes).toEqual([7, 7, 7, 7, 7]);
    expect(patient.destroyed).toBe(false);
    const goaway = once(patient, "goaway");
    patient.request({ ":path": "/busy" }).on("error", () => {});
    expect((await goaway)[0]).toBe(0);
    // The call that it has under way is answered first.
    busy[0]?.end("done");
    await once(patient, "close");
  });
});

describe("pipelined requests over HTTP/1.1", () => {
  test("pipelined requests over HTTP/1.1 are begun one after the other", async () => {
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

  test("pipelined requests that are sent in pieces, with bodies, are read correctly", async () => {
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
    ["closes", 5, (socket: Socket) => socket.end()],
    ["resets", 5, (socket: Socket) => socket.resetAndDestroy()],
    ["closes, behind more than is kept", 5000, (socket: Socket) => socket.end()],
    ["resets, behind more than is kept", 5000, (socket: Socket) => socket.resetAndDestroy()],
  ])("pipelined requests do not hide a caller who %s the connection", async (_, count, leave) => {
    const { enter, busy } = await start({});
    const { socket } = await enter("127.0.0.2", get("/busy") + get("/healthz").repeat(count));
    await expect.poll(() => busy.length).toBe(1);
    await sleep(150);
    const gone = once(busy[0] ?? expect.fail("nothing is under way"), "close");
    leave(socket);
    await gone;
  });

  test("pipelined requests beyond the buffer of a connection are not answered, and the connection ends with the answer in flight", async () => {
    const { enter, busy } = await start({});
    const client = await enter("127.0.0.2", get("/busy") + get("/healthz").repeat(5000));
    await expect.poll(() => busy.length).toBe(1);
    await sleep(400);
    busy[0]?.end("done");
    const answers = await client.closed;
    // The few that the parser had made are answered, and of the last its client is told so.
    expect(answers.match(/HTTP\/1.1 /g)?.length).toBeLessThan(40);
    expect(answers.match(/Connection: close/g)).toHaveLength(1);
  });
});
