import { once } from "node:events";
import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { NodeResponse, RequestHandler } from "../../src/http/message.ts";
import { exchange, open, problemOf } from "../support/raw-http.ts";
import { http2Get } from "./http2-get.ts";
import { startListener } from "./start-listener.ts";

const close = "Connection: close\r\n";

const echoLength: RequestHandler = (req, res) => {
  if (req.url !== "/length") {
    return false;
  }
  let length = 0;
  req.on("data", (chunk: Buffer) => {
    length += chunk.length;
  });
  req.on("end", () => res.end(`length ${length}`));
  return true;
};

async function isAlive(base: string): Promise<boolean> {
  return (await fetch(`${base}/healthz`)).ok;
}

describe("malformed HTTP/1.1 requests", () => {
  test.each([
    ["Host: [", `GET /healthz HTTP/1.1\r\nHost: [\r\n${close}\r\n`, 400, "malformed_http"],
    ["Host: a b", `GET /healthz HTTP/1.1\r\nHost: a b\r\n${close}\r\n`, 400, "malformed_http"],
    ["Host: x:99999", `GET /healthz HTTP/1.1\r\nHost: x:99999\r\n${close}\r\n`, 400, "malformed_http"],
    ["a user in Host", `GET /healthz HTTP/1.1\r\nHost: a@b\r\n${close}\r\n`, 400, "malformed_http"],
    ["no Host", "GET /healthz HTTP/1.1\r\n\r\n", 400, "malformed_http"],
    [
      "an absolute target without sense",
      `GET http://[/ HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      400,
      "malformed_http",
    ],
    ["a target that is not a path", "GET healthz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "malformed_http"],
    ["CONNECT", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 400, "malformed_http"],
    ["OPTIONS *", `OPTIONS * HTTP/1.1\r\nHost: x\r\n${close}\r\n`, 404, "not_found"],
    ["GET *", `GET * HTTP/1.1\r\nHost: x\r\n${close}\r\n`, 404, "not_found"],
    ["a foreign scheme", `GET ftp://x/healthz HTTP/1.1\r\nHost: x\r\n${close}\r\n`, 400, "malformed_http"],
    ["a scheme without a host", `GET foo:healthz HTTP/1.1\r\nHost: x\r\n${close}\r\n`, 400, "malformed_http"],
    [
      "an absolute target without a host",
      `GET http:///healthz HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      400,
      "malformed_http",
    ],
    ["garbage", "\x00\x01\x02\r\n\r\n", 400, "malformed_http"],
    ["a broken HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", 400, "malformed_http"],
    [
      "two credentials",
      `GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nauthorization: b\r\n${close}\r\n`,
      400,
      "malformed_http",
    ],
    [
      "a transfer coding that is not undone here",
      "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      501,
      "unimplemented",
    ],
    [
      "an unknown Expect",
      `GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: gold\r\n${close}\r\n`,
      400,
      "malformed_http",
    ],
    [
      "20 kB of headers",
      `GET / HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(20_000)}\r\n\r\n`,
      431,
      "headers_too_large",
    ],
    [
      "a Host of 301 bytes",
      `GET /healthz HTTP/1.1\r\nHost: ${"x".repeat(301)}\r\n${close}\r\n`,
      400,
      "malformed_http",
    ],
    [
      "an absolute target with a host of 301 bytes",
      `GET http://${"x".repeat(301)}/healthz HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      400,
      "malformed_http",
    ],
    [
      "an Origin of 301 bytes",
      `GET /healthz HTTP/1.1\r\nHost: x\r\nOrigin: https://${"x".repeat(293)}\r\n${close}\r\n`,
      400,
      "malformed_http",
    ],
    [
      "an Origin of 301 bytes before a preflight",
      `OPTIONS /healthz HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Method: GET\r\nOrigin: ${"x".repeat(301)}\r\n${close}\r\n`,
      400,
      "malformed_http",
    ],
    [
      "a query of 65 parameters",
      `GET /healthz?${"a=1&".repeat(64)}b HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      400,
      "malformed_http",
    ],
    [
      "a transfer coding that nobody knows",
      "POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      400,
      "malformed_http",
    ],
    ["a target of 20 kB", `GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 414, "uri_too_long"],
  ])(
    "a malformed HTTP/1.1 request gets a problem document, and its connection is closed: %s",
    async (_, bytes, status, code) => {
      const { port, base, errors } = await startListener([echoLength]);
      const answer = problemOf(await exchange(port, bytes));
      expect(answer).toMatchObject({ status, code });
      expect(answer.head).toContain("Content-Type: application/problem+json");
      expect(answer.head).toContain("Connection: close");
      expect(await isAlive(base)).toBe(true);
      expect(errors).toEqual([]);
    },
  );
});

describe("unusual HTTP/1.1 requests", () => {
  test.each([
    ["HTTP/1.0 without a Host", "GET /healthz HTTP/1.0\r\n\r\n", '{"status":"ok"}'],
    ["an empty Host", `GET /healthz HTTP/1.1\r\nHost:\r\n${close}\r\n`, '{"status":"ok"}'],
    [
      "a target meant for proxies",
      `GET http://y/healthz HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      '{"status":"ok"}',
    ],
    [
      "a target with the scheme https",
      `GET HTTPS://y/healthz HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      '{"status":"ok"}',
    ],
    [
      "such a target without a path",
      `GET http://kibitz.test HTTP/1.1\r\nHost: x\r\n${close}\r\n`,
      "http://kibitz.test/v1/eval",
    ],
    [
      "an offer to speak websocket",
      "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n",
      '{"status":"ok"}',
    ],
    [
      "an offer to speak HTTP/2",
      "POST /length HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc",
      "length 3",
    ],
    [
      "400 short headers",
      `GET /healthz HTTP/1.1\r\n${"a:b\r\n".repeat(400)}Host: x\r\n${close}\r\n`,
      '{"status":"ok"}',
    ],
    [
      "a Host and an Origin of 300 bytes and a query of 64 parameters",
      `GET /healthz?${"a=1&".repeat(63)}b HTTP/1.1\r\nHost: ${"x".repeat(300)}\r\nOrigin: ${"x".repeat(300)}\r\n${close}\r\n`,
      '{"status":"ok"}',
    ],
    [
      "Expect: 100-continue",
      `POST /length HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n${close}\r\nabc`,
      "length 3",
    ],
  ])("HTTP/1.1 accepts %s", async (_, bytes, expected) => {
    const { port } = await startListener([echoLength]);
    expect(await exchange(port, bytes)).toContain(expected);
  });
});

test.each(["GET", "HEAD"])(
  "a browser that sends %s * gets the 404 page, and the server goes on",
  async (method) => {
    const { port, base, errors } = await startListener();
    const answer = await exchange(
      port,
      `${method} * HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n${close}\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
    expect(answer).toContain("Content-Type: text/html");
    expect(await isAlive(base)).toBe(true);
    expect(errors).toEqual([]);
  },
);

test("the HTTP/2 scheme https, which a proxy that ends TLS sends, is served", async () => {
  const { base } = await startListener();
  const answer = await http2Get(base, { ":path": "/healthz", ":scheme": "https" });
  expect([answer.status, answer.body]).toEqual([200, '{"status":"ok"}\n']);
});

test("100 Continue is sent if the handler reads the body, but not if the request is refused because of its headers", async () => {
  const { port, base } = await startListener([echoLength]);
  const asking = `HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n${close}\r\n`;
  expect(await exchange(port, `POST /length ${asking}abc`)).toMatch(
    /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200/,
  );
  expect(await exchange(port, `POST /nope ${asking}`)).toMatch(/^HTTP\/1.1 404/);

  const client = connect(base);
  onTestFinished(() => client.destroy());
  const asked = (path: string) =>
    client.request({ ":method": "POST", ":path": path, expect: "100-continue" }, { endStream: false });
  const read = asked("/length");
  await once(read, "continue");
  read.end("abc");
  expect(String((await once(read, "data"))[0])).toBe("length 3");
  const refused = asked("/nope");
  const continued = once(refused, "continue").then(() => "continued");
  const [headers] = (await Promise.race([once(refused, "response"), continued])) as [Record<string, unknown>];
  expect(headers[":status"]).toBe(404);
});

test("the connection closes after the response if the client expected 100 Continue and did not receive the status", async () => {
  const { port } = await startListener([echoLength]);
  const asking = "HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  for (const line of ["POST /nope", "GET /healthz", "HEAD /healthz"]) {
    expect(await exchange(port, `${line} ${asking}`), line).toContain("\r\nConnection: close\r\n");
  }
  const { socket, received } = await open(port);
  onTestFinished(() => void socket.destroy());
  socket.write(`POST /length ${asking}abc`);
  await expect.poll(received).toContain("length 3");
  expect(received()).toContain("Connection: keep-alive");
});

test("garbage after a request closes the connection after the complete response", async () => {
  const { port } = await startListener();
  const answer = await exchange(port, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n\x01\x02garbage\r\n\r\n");
  expect(answer).toMatch(/^HTTP\/1.1 200 OK[\s\S]*{"status":"ok"}\n$/);
});

test("garbage that arrives during a response closes the connection after the complete response", async () => {
  const begun: NodeResponse[] = [];
  const { port } = await startListener([
    (_req, res) => Boolean((res as NodeJS.WritableStream).write("begun") && begun.push(res)),
  ]);
  const { socket, received, closed } = await open(port);
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  await expect.poll(received).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*begun/);
  const before = received();
  socket.write("\x01\x02garbage\r\n\r\n");
  await sleep(50);
  expect(received()).toBe(before);
  (begun[0] as NodeJS.WritableStream).end();
  expect(await closed).toMatch(/begun\r\n0\r\n\r\n$/);
});

test("garbage after several pipelined requests closes the connection after their responses", async () => {
  const waiting: NodeResponse[] = [];
  const { port } = await startListener([(_req, res) => Boolean(waiting.push(res))]);
  const { socket, closed } = await open(port);
  socket.write(`${"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2)}\x01\x02garbage\r\n\r\n`);
  for (const count of [1, 2]) {
    await expect.poll(() => waiting.length).toBe(count);
    await sleep(20);
    (waiting.at(-1) as NodeJS.WritableStream).end(`answer ${count}`);
  }
  const answers = await closed;
  expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
  expect(answers).toMatch(/answer 1[\s\S]*Connection: close[\s\S]*answer 2/);
});

describe("malformed HTTP/2 requests", () => {
  test.each([
    [{ ":authority": "[" }, 400, "malformed_http"],
    [{ ":authority": "%" }, 400, "malformed_http"],
    [{ ":authority": "x:99999" }, 400, "malformed_http"],
    [{ ":method": "CONNECT", ":authority": "a:443" }, 400, "malformed_http"],
    [{ ":method": "OPTIONS", ":path": "*" }, 404, "not_found"],
    [{ ":scheme": "foo" }, 400, "malformed_http"],
    [{ ":scheme": "foo", ":path": "*", accept: "text/html" }, 400, "malformed_http"],
    [{ ":scheme": "foo", ":path": "http://x/healthz" }, 400, "malformed_http"],
    [{ expect: "gold" }, 400, "malformed_http"],
    [{ ":authority": "x".repeat(301) }, 400, "malformed_http"],
    [{ origin: "x".repeat(301) }, 400, "malformed_http"],
    [{ ":path": `/healthz?${"a=1&".repeat(64)}b` }, 400, "malformed_http"],
    [{ a: "x".repeat(20_000) }, 431, "headers_too_large"],
  ])(
    "a malformed HTTP/2 request gets a problem document: %o",
    async (headers: Record<string, string>, status, code) => {
      const { base } = await startListener();
      const isConnect = headers[":method"] === "CONNECT";
      const answer = await http2Get(base, isConnect ? headers : { ":path": "/healthz", ...headers });
      expect(answer.status).toBe(status);
      expect(JSON.parse(answer.body)).toMatchObject({ code });
      expect(answer.headers["content-type"]).toBe("application/problem+json");
      expect(await isAlive(base)).toBe(true);
    },
  );

  test.each([{ ":authority": "a b" }, { ":authority": "" }, { ":path": "x" }, { a: "x".repeat(70_000) }])(
    "an HTTP/2 stream is refused if its headers break the protocol: %o",
    async (headers) => {
      const { base } = await startListener();
      await expect(http2Get(base, { ":path": "/healthz", ...headers })).rejects.toThrow("NGHTTP2");
      expect(await isAlive(base)).toBe(true);
    },
  );
});
