import { describe, expect, test } from "vitest";
import { http2Get } from "../http/http2-get.ts";
import { answersFrom, exchange, rawRequest } from "../support/raw-http.ts";
import { expectProblem } from "./expect-problem.ts";
import { flag, frame, frameType, headerBlock, openFrames, requestFields } from "./frames.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { useService } from "./started-service.ts";

const service = useService();

const lines = (count: number, line: string) => Array.from({ length: count }, () => line);

describe("20: headers that are too many, too large or broken", () => {
  test.each<[string, string | Buffer]>([
    ["20 kB in one header", rawRequest("GET /healthz", [`A: ${"x".repeat(20_000)}`])],
    ["2 MB in one header", rawRequest("GET /healthz", [`A: ${"x".repeat(2_000_000)}`])],
    ["a name of 20 kB", rawRequest("GET /healthz", [`${"x".repeat(20_000)}: a`])],
    ["20,000 headers", rawRequest("GET /healthz", lines(20_000, "A: b"))],
    ["20,000 headers without a value", rawRequest("GET /healthz", lines(20_000, "A:"))],
    ["20 kB of cookies", rawRequest("GET /healthz", lines(200, `Cookie: ${"x".repeat(100)}`))],
    ["20 kB of Authorization", rawRequest("POST /v1/eval", [`Authorization: Bearer ${"x".repeat(20_000)}`])],
    ["a line without an end", `GET /healthz HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(200_000)}`],
    ["a NUL in a value", rawRequest("GET /healthz", ["A: b\0c"])],
    ["a NUL in a name", rawRequest("GET /healthz", ["A\0: b"])],
    ["control characters in a value", rawRequest("GET /healthz", ["A: \x01\x08\x1b[31m"])],
    ["a folded header", rawRequest("GET /healthz", ["A: b", " c"])],
    ["a header folded with a tab", rawRequest("GET /healthz", ["A: b", "\tc"])],
    ["a folded first header", "GET /healthz HTTP/1.1\r\n Host: x\r\n\r\n"],
    ["a blank before the colon", rawRequest("GET /healthz", ["A : b"])],
    ["a line without a colon", rawRequest("GET /healthz", ["nonsense"])],
    ["a name that is no token", rawRequest("GET /healthz", ["A(b): c"])],
    ["an empty name", rawRequest("GET /healthz", [": c"])],
    [
      "20,000 chunk extensions",
      rawRequest(
        "POST /v1/eval",
        ["Content-Type: application/json", "Transfer-Encoding: chunked"],
        `1${";a=b".repeat(20_000)}\r\n{\r\n0\r\n\r\n`,
      ),
    ],
    [
      "20,000 trailers",
      rawRequest(
        "POST /v1/eval",
        ["Content-Type: application/json", "Transfer-Encoding: chunked"],
        `1\r\n{\r\n0\r\n${"A: b\r\n".repeat(20_000)}\r\n`,
      ),
    ],
    ["a request line of 200 kB", `GET /${"x".repeat(200_000)} HTTP/1.1\r\n\r\n`],
    ["noise", Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256))],
    ["a TLS hello", Buffer.from("16030100f8010000f40303", "hex")],
    ["an SSH greeting", "SSH-2.0-OpenSSH_9.6\r\n"],
    ["a Redis command", "*1\r\n$4\r\nINFO\r\n"],
    [
      "a proxy's greeting",
      "PROXY TCP4 203.0.113.9 203.0.113.1 1 2\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
  ])(
    "the service responds with 400, 414 or 431 or not at all, and closes the connection: %s",
    async (_, bytes) => {
      const answers = answersFrom(await exchange(service.port, bytes));
      expect(answers.length).toBeLessThanOrEqual(1);
      for (const answer of answers) {
        expectProblem(answer, { status: [400, 431, 414] }, String(bytes));
        expect(answer.headers.connection).toBe("close");
      }
    },
  );

  test.each([
    { a: "x".repeat(20_000) },
    Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`a${index}`, "x".repeat(10)])),
    { authorization: `Bearer ${"x".repeat(20_000)}` },
    { "content-type": "x".repeat(60_000) },
  ])(
    "HTTP/2 headers of more than 16 KiB are refused with 431, or close the connection (%#)",
    async (headers) => {
      const answer = await http2Get(service.url, { ":path": "/healthz", ...headers }).catch(
        (error: Error) => error,
      );
      if (answer instanceof Error) {
        expect(answer.message).toMatch(/NGHTTP2|closed|socket|ECONN/);
      } else {
        const { status, body } = answer;
        expectProblem(
          { status, body, headers: answer.headers as Record<string, string> },
          { status: 431, code: "headers_too_large" },
        );
      }
    },
  );

  test("thousands of HPACK references to one large header (CVE-2016-6581) use little memory", async () => {
    // An HPACK bomb: thousands of bytes, each of which refers to a header of 4 KB.
    const client = await openFrames(service.port);
    const stop = await watchHealth(service);
    const entry = Buffer.concat([Buffer.of(0x40), headerBlock([["a", "x".repeat(3000)]]).subarray(1)]);
    for (let stream = 1; stream < 200; stream += 2) {
      const block = Buffer.concat([
        headerBlock(requestFields("GET", "/healthz")),
        ...(stream === 1 ? [entry] : []),
        Buffer.alloc(12_000, 0x80 | 62),
      ]);
      if (!(await client.send(frame(frameType.headers, flag.endHeaders | flag.endStream, stream, block)))) {
        break;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    client.socket.destroy();
    const health = await stop();
    expectUnharmed(health);
  });

  test("200 concurrent clients that each send 3 MB of headers do not affect other callers", async () => {
    const stop = await watchHealth(service);
    const flood = rawRequest("GET /healthz", lines(3000, `A: ${"x".repeat(1000)}`));
    await Promise.all(Array.from({ length: 200 }, () => exchange(service.port, flood)));
    const health = await stop();
    expectUnharmed(health);
  });
});
