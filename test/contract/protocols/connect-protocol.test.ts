import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { get, post } from "./post.ts";
import type { Plain } from "./protocol.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

const evaluate = (body: Plain | string, headers: Readonly<Record<string, string>> = {}) =>
  post(`${app.url}/chess.analysis.v1.AnalysisService/Evaluate`, body, {
    "Content-Type": "application/json",
    ...headers,
  });

describe("Connect with JSON", () => {
  test("Connect with JSON answers in canonical ProtoJSON", async () => {
    const { status, body } = await evaluate({ fen: startFen, depth: 4, path: "PATH_WASM" });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      turn: "COLOR_WHITE",
      bestMove: { fenAfter: expect.any(String) },
      search: { nodes: expect.stringMatching(/^\d+$/), stopReason: "STOP_REASON_DEPTH" },
    });
    expect(body).not.toHaveProperty("terminal");
  });

  test.each(["movetimeMs", "movetime_ms"])("Connect with JSON accepts the field name %s", async (name) => {
    const { body } = await evaluate({ fen: startFen, depth: 4, [name]: 5000 });
    expect(body).toMatchObject({ search: { limits: { movetimeMs: 5000 } } });
  });

  test("Connect with JSON treats PATH_UNSPECIFIED like auto", async () => {
    const { status, body } = await evaluate({ fen: startFen, depth: 2, path: "PATH_UNSPECIFIED" });
    expect(status).toBe(200);
    expect(body).toMatchObject({ engine: { path: "PATH_WASM" } });
  });
});

test("a message of more than 4 KiB is refused before decoding if the call is not an analysis", async () => {
  const { status, body } = await post(
    `${app.url}/chess.analysis.v1.KeyService/CreateKey`,
    `[${"{},".repeat(20_000)}{}]`,
    { "Content-Type": "application/json" },
  );
  expect(status).toBe(429);
  expect(body).toMatchObject({ code: "resource_exhausted", message: expect.stringContaining("4096 bytes") });
});

test.each(["!!", "e", "e30{"])(
  "a GET request with the invalid base64 message %j is refused as an invalid argument",
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
