import { describe, expect, test } from "vitest";
import { patienceMs } from "../support/patience.ts";
import { answersFrom, exchange, open, rawRequest } from "../support/raw-http.ts";
import { matedFen } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { flag, frame, frameType, headerBlock, openFrames, requestFields } from "./frames.ts";
import { expectProbesAnswered, useSharedService } from "./started-service.ts";

const service = useSharedService();

const json = "Content-Type: application/json";
const chunked = "Transfer-Encoding: chunked";
/**
 * A request inside the body of another request. If the service parsed this request, the response would be a 404 with its path.
 */
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
const eval_ = (headers: readonly string[], body: string) =>
  rawRequest("POST /v1/eval", [json, ...headers], body);
const chunks = (...sizes: readonly string[]) => eval_([chunked], sizes.join(""));

describe("21: requests with an ambiguous end", () => {
  test.each<[string, string]>([
    ["both lengths", eval_(["Content-Length: 5", chunked], `0\r\n\r\n${smuggled}`)],
    ["both lengths, the other way around", eval_([chunked, "Content-Length: 5"], `0\r\n\r\n${smuggled}`)],
    ["two lengths", eval_(["Content-Length: 2", "Content-Length: 3"], `{} ${smuggled}`)],
    ["the same length twice", eval_(["Content-Length: 2", "Content-Length: 2"], `{}${smuggled}`)],
    ["a list of lengths", eval_(["Content-Length: 2, 2"], `{}${smuggled}`)],
    ["a length with a sign", eval_(["Content-Length: +2"], `{}${smuggled}`)],
    ["a negative length", eval_(["Content-Length: -2"], `{}${smuggled}`)],
    ["a length in hex", eval_(["Content-Length: 0x2"], `{}${smuggled}`)],
    ["a length with a fraction", eval_(["Content-Length: 2.0"], `{}${smuggled}`)],
    ["a length beyond 64 bits", eval_(["Content-Length: 18446744073709551618"], `{}${smuggled}`)],
    ["no length at all in its header", eval_(["Content-Length:"], `{}${smuggled}`)],
    ["a length with a blank before the colon", eval_(["Content-Length : 2"], `{}${smuggled}`)],
    [
      "a coding with a blank before the colon",
      eval_(["Transfer-Encoding : chunked"], `0\r\n\r\n${smuggled}`),
    ],
    ["a coding with a vertical tab", eval_(["Transfer-Encoding:\u000bchunked"], `0\r\n\r\n${smuggled}`)],
    ["a coding that only looks like it", eval_(["Transfer-Encoding: xchunked"], `0\r\n\r\n${smuggled}`)],
    ["a coding in quotes", eval_(['Transfer-Encoding: "chunked"'], `0\r\n\r\n${smuggled}`)],
    ["a coding that is none", eval_(["Transfer-Encoding: identity"], `0\r\n\r\n${smuggled}`)],
    [
      "chunked, and then something else",
      eval_(["Transfer-Encoding: chunked, identity"], `0\r\n\r\n${smuggled}`),
    ],
    ["chunked twice", eval_(["Transfer-Encoding: chunked, chunked"], `0\r\n\r\n${smuggled}`)],
    ["two codings in two headers", eval_([chunked, "Transfer-Encoding: identity"], `0\r\n\r\n${smuggled}`)],
    ["a coding that is not undone here", eval_(["Transfer-Encoding: gzip, chunked"], `0\r\n\r\n${smuggled}`)],
    ["a folded coding", eval_(["Transfer-Encoding:", " chunked"], `0\r\n\r\n${smuggled}`)],
    [
      "chunks in HTTP/1.0",
      `POST /v1/eval HTTP/1.0\r\n${json}\r\nConnection: keep-alive\r\n${chunked}\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ["a chunk without a size", chunks("\r\n{}\r\n0\r\n\r\n", smuggled)],
    ["a chunk with a negative size", chunks("-2\r\n{}\r\n0\r\n\r\n", smuggled)],
    ["a chunk with a size in C", chunks("0x2\r\n{}\r\n0\r\n\r\n", smuggled)],
    ["a chunk with a size beyond 64 bits", chunks("10000000000000002\r\n{}\r\n0\r\n\r\n", smuggled)],
    ["a chunk with a size that is a word", chunks("zz\r\n{}\r\n0\r\n\r\n", smuggled)],
    ["a chunk with a blank before its size", chunks(" 2\r\n{}\r\n0\r\n\r\n", smuggled)],
    ["a chunk that ends with LF", chunks("2\n{}\n0\n\n", smuggled)],
    ["a chunk that is longer than it says", chunks("2\r\n{}AB\r\n0\r\n\r\n", smuggled)],
    ["a chunk that is shorter than it says", chunks("5\r\n{}\r\n0\r\n\r\n", smuggled)],
    ["a chunk extension with a line break", chunks("2;a\nb\r\n{}\r\n0\r\n\r\n", smuggled)],
    ["lines that end with LF", `GET /healthz HTTP/1.1\nHost: x\n\n${smuggled}`],
    ["lines that end with CR", `GET /healthz HTTP/1.1\rHost: x\r\r${smuggled}`],
    ["a CR in a value", rawRequest("GET /healthz", ["A: b\rTransfer-Encoding: chunked"], smuggled)],
    ["an LF in a value", rawRequest("GET /healthz", ["A: b\nTransfer-Encoding: chunked"], smuggled)],
    ["two hosts", rawRequest("GET /healthz", ["Host: y"], smuggled)],
    [
      "HTTP/2 in the request line",
      `GET /healthz HTTP/2.0\r\nHost: x\r\nConnection: close\r\n\r\n${smuggled}`,
    ],
    ["HTTP/0.9", `GET /healthz\r\n\r\n${smuggled}`],
    ["HTTP/1.2 and more", `GET /healthz HTTP/1.9\r\nHost: x\r\n\r\n${smuggled}`],
    ["tabs in the request line", `GET\t/healthz\tHTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`],
    ["a second target in the request line", `GET /healthz /smuggled HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])("%s: the request is refused with 400 or 501, and the connection is closed", async (_, bytes) => {
    const received = await exchange(service.port, bytes);
    expect(received).not.toContain("/smuggled");
    const answers = answersFrom(received);
    expect(answers.length).toBeLessThanOrEqual(1);
    for (const answer of answers) {
      expectProblem(answer, { status: [400, 501] });
      expect(answer.headers.connection).toBe("close");
    }
  });

  test("the body of a GET request is not parsed as another request", async () => {
    const first = rawRequest("GET /healthz", [`Content-Length: ${smuggled.length}`], smuggled);
    const answers = answersFrom(
      await exchange(service.port, first + rawRequest("GET /readyz", ["Connection: close"])),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("the rest of a refused body is not parsed as another request", async () => {
    const refused = eval_([`Content-Length: ${smuggled.length}`], smuggled).replace("/v1/eval", "/nope");
    const large = rawRequest(
      "POST /v1/eval",
      [json, "Content-Length: 100000"],
      smuggled.repeat(2700).slice(0, 100_000),
    );
    for (const bytes of [refused + rawRequest("GET /healthz", ["Connection: close"]), large]) {
      const received = await exchange(service.port, bytes);
      expect(received).toMatch(/^HTTP\/1\.1 4\d\d /);
      expect(received).not.toContain("/smuggled");
    }
  });
});

describe("21: pipelined requests", () => {
  test("five pipelined requests are answered in their order", async () => {
    const body = JSON.stringify({ fen: matedFen });
    const evaluation = eval_([`Content-Length: ${body.length}`], body);
    const bytes = [
      rawRequest("GET /healthz"),
      evaluation,
      rawRequest("GET /nope"),
      eval_(["Content-Length: 1"], "{"),
      rawRequest("GET /readyz", ["Connection: close"]),
    ].join("");
    const answers = answersFrom(await exchange(service.port, bytes));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 400, 200]);
    expect(JSON.parse(answers[1]?.body ?? "").fen).toBe(matedFen);
    expect(JSON.parse(answers[4]?.body ?? "")).toEqual({ status: "ready" });
  });

  test("ten thousand pipelined requests do not delay health probes, even if the client reads no response", async () => {
    const { socket } = await open(service.port);
    socket.pause();
    socket.write(rawRequest("GET /problems").repeat(10_000));
    await expectProbesAnswered(service);
    socket.destroy();
  });

  test("a pipelined request after an invalid request is not answered", async () => {
    const received = await exchange(service.port, `${rawRequest("GET /healthz")}BROKEN\r\n\r\n${smuggled}`);
    expect(received).toMatch(/^HTTP\/1.1 200/);
    expect(received).not.toContain("/smuggled");
  });
});

describe("21: fields that HTTP/2 does not allow", () => {
  test.each<[string, Readonly<Record<string, string>>]>([
    ["transfer-encoding", { "transfer-encoding": "chunked" }],
    ["connection", { connection: "keep-alive" }],
    ["upgrade", { upgrade: "h2c" }],
    ["te", { te: "chunked" }],
    ["a length that is not that of the body", { "content-length": "5" }],
    ["two lengths", { "content-length": "2, 3" }],
    ["a name in capitals", { "Content-Type": "application/json" }],
    ["a line break in a value", { a: "b\r\nGET /smuggled HTTP/1.1" }],
    ["a NUL in a value", { a: "b\0c" }],
    ["a line break in a name", { "a\r\nb": "c" }],
    ["a colon in a name", { "a:b": "c" }],
    ["a pseudo header that there is not", { ":smuggled": "x" }],
    ["a pseudo header twice", { ":path ": "/smuggled" }],
  ])("%s over HTTP/2 closes the stream or the connection", async (_, fields) => {
    const client = await openFrames(service.port);
    const more = { "content-type": "application/json", ...fields };
    const block = headerBlock(requestFields("POST", "/v1/eval", more));
    await client.send(
      frame(frameType.headers, flag.endHeaders, 1, block),
      frame(frameType.data, flag.endStream, 1, Buffer.from("{}")),
    );
    const isOver = () =>
      client.socket.closed ||
      client.frames.some(
        ({ type, stream, flags }) =>
          type === frameType.rstStream ||
          type === frameType.goaway ||
          (stream === 1 && (flags & flag.endStream) !== 0),
      );
    await expect.poll(isOver, { timeout: patienceMs }).toBe(true);
    const text = Buffer.concat(client.frames.map(({ payload }) => payload)).toString("latin1");
    expect(text).not.toContain("/smuggled");
    expect(text).not.toContain('"best_move"');
    client.socket.destroy();
  });
});
