import { describe, expect, test } from "vitest";
import { post } from "./ask.ts";
import { envelope, jsonCalls, rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { mib, watchHealth } from "./health-watch.ts";
import { answersFrom, exchange, open, rawRequest } from "./raw-http.ts";
import { useService } from "./started-service.ts";

/** The host that raw requests name: agents are answered at known ones only. */
const service = useService({ KIBITZ_ALLOWED_HOSTS: "x" });

const json = "Content-Type: application/json";
const close = "Connection: close";
const tooLarge = { status: 413, code: "body_too_large" };
/** At once: without waiting for what is announced. */
const atOnceMs = 2000;
const twoMib = " ".repeat(2 * mib);

describe.each([...jsonCalls, "/mcp"])("01: %s refuses at once with 413", (path) => {
  test("2 MiB", async () => {
    const startedAt = performance.now();
    expectProblem(await service.post(path, twoMib), tooLarge);
    expect(performance.now() - startedAt).toBeLessThan(atOnceMs);
  });

  test("2 MiB in chunks that say nothing of their sum", async () => {
    const chunks = `8000\r\n${" ".repeat(0x8000)}\r\n`.repeat(64);
    const request = rawRequest(
      `POST ${path}`,
      [json, close, "Transfer-Encoding: chunked"],
      `${chunks}0\r\n\r\n`,
    );
    const [answer] = answersFrom(await exchange(service.port, request));
    expectProblem(answer ?? expect.fail("no answer"), tooLarge);
  });

  test.each([
    ["10 GB that are only announced", []],
    ["10 GB, asked for beforehand with Expect", ["Expect: 100-continue"]],
  ])("%s", async (_, more) => {
    const startedAt = performance.now();
    const request = rawRequest(`POST ${path}`, [json, "Content-Length: 10000000000", ...more]);
    const received = await exchange(service.port, request);
    expect(received).not.toContain("100 Continue");
    const [answer] = answersFrom(received);
    expectProblem(answer ?? expect.fail("no answer"), tooLarge);
    expect(performance.now() - startedAt).toBeLessThan(atOnceMs);
  });
});

describe("01: an RPC refuses", () => {
  test.each([
    ["Connect", "application/json", 429, 5],
    ["gRPC-Web", "application/grpc-web+proto", 200, 5],
  ])("2 MiB over %s", async (_, type, status) => {
    const body = type.includes("grpc") ? envelope(Buffer.from(twoMib)) : twoMib;
    const answer = await service.post(rpcOf("Evaluate"), body, { "Content-Type": type });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer)).toMatch(/resource_exhausted|"grpc-status":"8"|grpc-status: ?8/);
  });

  test.each(["application/grpc-web+proto", "application/connect+json"])(
    "a message that says it had 4 GiB: %s",
    async (type) => {
      const path = type.includes("grpc") ? rpcOf("Evaluate") : rpcOf("StreamEvaluate");
      const body = envelope(Buffer.alloc(100), 0, 0xffffffff);
      const answer = await service.post(path, body, { "Content-Type": type });
      expect(answer.body + JSON.stringify(answer.headers)).toMatch(
        /resource_exhausted|"grpc-status":"8"|grpc-status: ?8/,
      );
    },
  );
});

test.each([
  ["POST /v1/eval", [json]],
  ["POST /nope", []],
  ["PUT /v1/eval", [json]],
  ["GET /healthz", []],
  ["HEAD /engines", []],
  ["GET /nope", []],
  ["OPTIONS /v1/eval", ["Origin: https://example.com", "Access-Control-Request-Method: POST"]],
  [`POST ${rpcOf("Evaluate")}`, ["Content-Type: application/grpc", "TE: trailers"]],
  ["POST /kibitz.v1.Nobody/Nothing", ["Content-Type: application/grpc"]],
])(
  "01: a body without an end is cut off soon after its answer: %s",
  async (line, headers) => {
    const { socket, closed } = await open(service.port);
    socket.write(rawRequest(line, [...headers, "Transfer-Encoding: chunked"]));
    let sentBytes = 0;
    const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
    const startedAt = performance.now();
    const send = () => {
      while (socket.writable && performance.now() - startedAt < 10_000) {
        sentBytes += chunk.length;
        if (!socket.write(chunk)) {
          socket.once("drain", send);
          return;
        }
      }
    };
    send();
    const [answer] = answersFrom(await closed);
    if (answer !== undefined && line === "POST /v1/eval") {
      expectProblem(answer, tooLarge);
    }
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(sentBytes).toBeGreaterThan(0);
  },
  20_000,
);

test("01: 100 bodies of 2 MiB at a time leave memory and health as they are", async () => {
  const stop = await watchHealth(service);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => post(`${service.url}/v1/eval`, twoMib)),
  );
  const health = await stop();
  for (const answer of answers) {
    expectProblem(answer, tooLarge);
  }
  expect(health.failed).toBe(0);
  expect(health.grownBytes).toBeLessThan(200 * mib);
});

/** With a second of what is thrown away, and what socket buffers hold. */
const takenMaxBytes = 64 * mib;
const badKey = `Authorization: Bearer kbz_${"0".repeat(36)}`;

describe("01: of a body without an end, sent as fast as it goes, little is taken", () => {
  test.each(
    [
      ["POST /v1/eval", "application/json"],
      ["POST /v1/eval/stream", "application/json"],
      ["POST /mcp", "application/json"],
      ["POST /nowhere", "application/json"],
      ["PUT /v1/eval", "application/json"],
      ["DELETE /v1/keys/self", "application/json"],
      ["OPTIONS /v1/eval", "application/json"],
      ["POST /grpc.health.v1.Health/Check", "application/json"],
      [`POST ${rpcOf("Evaluate")}`, "application/json"],
      [`POST ${rpcOf("Evaluate")}`, "application/grpc-web+proto"],
      [`POST ${rpcOf("Evaluate")}`, "application/grpc"],
      [`POST ${rpcOf("StreamEvaluate")}`, "application/grpc-web+proto"],
      [`POST ${rpcOf("StreamEvaluate")}`, "application/connect+json"],
    ].flatMap(([request, type]) => [
      [request, type, "no key", []],
      [request, type, "a wrong key", [badKey]],
    ]) as [string, string, string, string[]][],
  )("%s, %s, %s", async (request, type, _, more) => {
    const { socket, closed } = await open(service.port);
    socket.on("error", () => {});
    const piece = Buffer.alloc(mib, " ");
    socket.write(rawRequest(request, [`Content-Type: ${type}`, "Content-Length: 100000000000", ...more]));
    const sending = setInterval(() => {
      while (!socket.destroyed && socket.writableLength < 4 * mib) {
        socket.write(piece);
      }
    }, 2);
    const startedAt = performance.now();
    await closed;
    clearInterval(sending);
    expect(socket.bytesWritten - socket.writableLength).toBeLessThan(takenMaxBytes);
    expect(performance.now() - startedAt).toBeLessThan(2 * atOnceMs);
  });
});
