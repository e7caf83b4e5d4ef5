import { describe, expect, test } from "vitest";
import { envelope } from "../support/envelope.ts";
import { answersFrom, exchange, open, rawRequest, untilClosed } from "../support/raw-http.ts";
import { jsonCalls, rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { mib } from "./health-watch.ts";
import { useSharedService } from "./started-service.ts";

const service = useSharedService();

const json = "Content-Type: application/json";
const close = "Connection: close";
const tooLarge = { status: 413, code: "body_too_large" };
const twoMib = " ".repeat(2 * mib);

const readers = [...jsonCalls, "/mcp"];

test.each(readers)("a body of 2 MiB to %s is refused with 413", async (path) => {
  expectProblem(await service.post(path, twoMib), tooLarge);
});

test.each(readers)("a chunked body of 2 MiB to %s is refused with 413", async (path) => {
  const chunks = `8000\r\n${" ".repeat(0x8000)}\r\n`.repeat(64);
  const request = rawRequest(
    `POST ${path}`,
    [json, close, "Transfer-Encoding: chunked"],
    `${chunks}0\r\n\r\n`,
  );
  const [answer] = answersFrom(await exchange(service.port, request));
  expectProblem(answer ?? expect.fail("no answer"), tooLarge);
});

// The tests run concurrently, because the service closes each connection one second after its response.
test.concurrent.each(
  readers.flatMap((path) => [
    [path, "without Expect", []],
    [path, "with Expect", ["Expect: 100-continue"]],
  ]) as [string, string, string[]][],
)(
  "a request to %s %s that announces a body of 10 GB is refused with 413 before the client sends the body",
  async (path, _, more) => {
    const request = rawRequest(`POST ${path}`, [json, "Content-Length: 10000000000", ...more]);
    // The test sends the head of the request without any byte of the body.
    const received = await exchange(service.port, request);
    expect(received).not.toContain("100 Continue");
    const [answer] = answersFrom(received);
    expectProblem(answer ?? expect.fail("no answer"), tooLarge);
  },
);

describe("01: an RPC", () => {
  test.each([
    ["Connect", "application/json", 429, 5],
    ["gRPC-Web", "application/grpc-web+proto", 200, 5],
  ])("a message of 2 MiB over %s is refused as resource_exhausted", async (_, type, status) => {
    const body = type.includes("grpc") ? envelope(Buffer.from(twoMib)) : twoMib;
    const answer = await service.post(rpcOf("Evaluate"), body, { "Content-Type": type });
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer)).toMatch(/resource_exhausted|"grpc-status":"8"|grpc-status: ?8/);
  });

  test.each(["application/grpc-web+proto", "application/connect+json"])(
    "a message whose prefix announces 4 GiB is refused as resource_exhausted: %s",
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

test.concurrent.each([
  ["POST /v1/eval", [json]],
  ["POST /nope", []],
  ["PUT /v1/eval", [json]],
  ["GET /healthz", []],
  ["HEAD /price", []],
  ["GET /nope", []],
  ["OPTIONS /v1/eval", ["Origin: https://example.com", "Access-Control-Request-Method: POST"]],
  [`POST ${rpcOf("Evaluate")}`, ["Content-Type: application/grpc", "TE: trailers"]],
  ["POST /kibitz.v1.Nobody/Nothing", ["Content-Type: application/grpc"]],
])(
  "the service closes the connection after its response if the client does not stop sending a body: %s",
  async (line, headers) => {
    const { socket, closed } = await open(service.port);
    socket.write(rawRequest(line, [...headers, "Transfer-Encoding: chunked"]));
    const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
    const send = () => {
      while (socket.writable) {
        if (!socket.write(chunk)) {
          socket.once("drain", send);
          return;
        }
      }
    };
    send();
    const [answer] = answersFrom(await untilClosed({ socket, closed }));
    if (answer !== undefined && line === "POST /v1/eval") {
      expectProblem(answer, tooLarge);
    }
  },
);

/** The client can send at most this many bytes. The service reads and discards a body for one second, and then disconnects. */
const takenMaxBytes = 64 * mib;
const badKey = `Authorization: Bearer kbz_${"0".repeat(36)}`;

describe("01: a body of 100 GB", () => {
  // The tests run concurrently, because the service discards each body for one second.
  test.concurrent.each(
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
  )(
    "the service reads less than 64 MiB of a body of 100 GB: %s with the content type %s and %s",
    async (request, type, _, more) => {
      const { socket, closed } = await open(service.port);
      socket.on("error", () => {});
      const piece = Buffer.alloc(mib, " ");
      socket.write(rawRequest(request, [`Content-Type: ${type}`, "Content-Length: 100000000000", ...more]));
      const sending = setInterval(() => {
        while (!socket.destroyed && socket.writableLength < 4 * mib) {
          socket.write(piece);
        }
      }, 2);
      await untilClosed({ socket, closed });
      clearInterval(sending);
      expect(socket.bytesWritten - socket.writableLength).toBeLessThan(takenMaxBytes);
    },
  );
});
