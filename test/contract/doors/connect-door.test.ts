import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import type { Plain } from "./door.ts";
import { get, post } from "./post.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

const evaluate = (body: Plain | string, headers: Readonly<Record<string, string>> = {}) =>
  post(`${app.url}/chess.analysis.v1.AnalysisService/Evaluate`, body, {
    "Content-Type": "application/json",
    ...headers,
  });

describe("Connect with JSON", () => {
  test("Connect with JSON answers in canonical ProtoJSON: camel case, enum names, 64 bits as text, nothing that is unset", async () => {
    const { status, body } = await evaluate({ fen: startFen, depth: 4, path: "PATH_WASM" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      turn: "COLOR_WHITE",
      bestMove: { fenAfter: expect.any(String) },
      search: { nodes: expect.stringMatching(/^\d+$/), stopReason: "STOP_REASON_DEPTH" },
    });
    expect(body).not.toHaveProperty("terminal");
  });

  test.each(["movetimeMs", "movetime_ms"])("Connect with JSON reads the field name %s", async (name) => {
    const { body } = await evaluate({ fen: startFen, depth: 4, [name]: 5000 });
    expect(body).toMatchObject({ search: { limits: { movetimeMs: 5000 } } });
  });

  test("Connect with JSON reads PATH_UNSPECIFIED as auto", async () => {
    const { status, body } = await evaluate({ fen: startFen, depth: 2, path: "PATH_UNSPECIFIED" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ engine: { path: "PATH_WASM" } });
  });

  test("Connect with JSON needs no header of Connect's, so that curl works", async () => {
    const { status } = await evaluate({ fen: startFen, depth: 2 });
    expect(status).toBe(200);
  });
});

describe("what Connect itself refuses carries the request's id, too", () => {
  test.each<
    [
      name: string,
      body: Plain | string,
      headers: Readonly<Record<string, string>>,
      status: number,
      code: string,
    ]
  >([
    ["a field that is not known", { fen: startFen, deph: 3 }, {}, 400, "invalid_argument"],
    ["the name of an enum value that is not known", { path: "PATH_GPU" }, {}, 400, "invalid_argument"],
    ["text for a number", { fen: startFen, depth: "deep" }, {}, 400, "invalid_argument"],
    ["broken JSON", '{"fen":', {}, 400, "invalid_argument"],
    [
      "a time-out that is no number",
      { fen: startFen },
      { "Connect-Timeout-Ms": "soon" },
      400,
      "invalid_argument",
    ],
    ["an unknown compression", "x", { "Content-Encoding": "zstd" }, 501, "unimplemented"],
    ["a message of more than 64 KiB", { fen: "x".repeat(70_000) }, {}, 429, "resource_exhausted"],
  ])("a refusal by Connect itself carries the request's id: %s", async (_, body, headers, status, code) => {
    const reply = await evaluate(body, { ...headers, "X-Request-Id": "mine" });
    expect(reply.status).toBe(status);
    expect(reply.body).toMatchObject({ code, message: expect.any(String) });
    expect(reply.headers.get("x-request-id")).toBe("mine");
    // Sent again, it would fail again.
    expect(reply.headers.get("retry-after")).toBeNull();
  });
});

test("a message of more than 4 KiB is refused before it is decoded if the call is no analysis", async () => {
  const { status, body } = await post(
    `${app.url}/chess.analysis.v1.KeyService/CreateKey`,
    `[${"{},".repeat(20_000)}{}]`,
    { "Content-Type": "application/json" },
  );
  expect(status).toBe(429);
  expect(body).toMatchObject({ code: "resource_exhausted", message: expect.stringContaining("4096 bytes") });
});

test.each(["!!", "e", "e30{"])(
  "the message %j of a GET, which is not base64, is refused as an invalid argument",
  async (message) => {
    const query = `encoding=proto&base64=1&message=${message}`;
    const path = `${app.url}/chess.analysis.v1.AnalysisService/Evaluate?${query}`;
    const { status, body } = await get(path, { headers: { "X-Request-Id": "mine" } });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining("base64"),
      details: [
        { debug: { metadata: { code: "malformed_http", next_action: "fix_request", request_id: "mine" } } },
        { type: "chess.analysis.v1.Problem", debug: { requestId: "mine" } },
      ],
    });
  },
);

test("a call that no service has is refused with the details of every error", async () => {
  const headers = { "Content-Type": "application/json", "X-Request-Id": "mine" };
  const { status, body } = await post(`${app.url}/chess.analysis.v1.AnalysisService/Evalute`, {}, headers);
  expect(status).toBe(501);
  expect(body).toMatchObject({
    code: "unimplemented",
    details: [
      {
        type: "google.rpc.ErrorInfo",
        debug: {
          domain: "kibitz",
          reason: "UNIMPLEMENTED",
          metadata: { code: "unimplemented", next_action: "fix_request", request_id: "mine" },
        },
      },
      { type: "chess.analysis.v1.Problem", debug: { requestId: "mine" } },
    ],
  });
});

describe("X-Request-Id", () => {
  test("X-Request-Id is kept, and sent back with answers and errors", async () => {
    const good = await evaluate({ fen: startFen, depth: 1 }, { "X-Request-Id": "mine" });
    expect(good.headers.get("x-request-id")).toBe("mine");
    const bad = await evaluate({ fen: "bad" }, { "X-Request-Id": "mine" });
    expect(bad.headers.get("x-request-id")).toBe("mine");
    expect(bad.body).toMatchObject({
      details: [{ debug: { metadata: { request_id: "mine" } } }, {}, { debug: { requestId: "mine" } }],
    });
  });
});
