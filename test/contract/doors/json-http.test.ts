import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";
import { statuses } from "./statuses.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

const json = { "Content-Type": "application/json" };

test("a problem has every field of the contract", async () => {
  const { status, headers, body } = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 0 });
  expect(status).toBe(400);
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(body).toStrictEqual({
    type: "/problems/out-of-range",
    title: "Out of range",
    status: 400,
    code: "out_of_range",
    detail: "`depth` must be from 1 to 30, not 0.",
    instance: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
    request_id: headers.get("x-request-id"),
    next_action: "send_suggested_request",
    retryable: false,
    retry_after_ms: null,
    errors: [
      {
        pointer: "/depth",
        code: "out_of_range",
        message: "`depth` must be from 1 to 30, not 0.",
        allowed: { minimum: 1, maximum: 30 },
        ply: null,
        token: null,
        offset: null,
        line: null,
        column: null,
      },
    ],
    suggested_request: { fen: startFen, depth: 1 },
    upgrade: null,
  });
});

test("a wrong credential is refused with how to authenticate", async () => {
  const headers = { ...json, Authorization: "Bearer kbz_x" };
  const { status, headers: given, body } = await post(`${app.url}/v1/eval`, { fen: startFen }, headers);
  expect(status).toBe(401);
  expect(given.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  expect(body).toMatchObject({ code: "invalid_api_key", next_action: "check_api_key", errors: [] });
});

describe("HTTP", () => {
  test.each(["/v1/nope", "/v1", "/v1/eval/", "/V1/eval", "/v1/eval%2f", "/v2/eval"])(
    "the path %s is 404",
    async (path) => {
      const { status, body } = await post(app.url + path, { fen: startFen });
      expect(status).toBe(404);
      expect(body).toMatchObject({ code: "not_found", status: 404, next_action: "fix_request" });
    },
  );

  test("a body of more than 64 KiB is 413", async () => {
    const { status, body } = await post(`${app.url}/v1/eval`, { fen: "x".repeat(64 * 1024) });
    expect(status).toBe(413);
    expect(body).toMatchObject({ code: "body_too_large" });
  });

  test("a body of more than 4 KiB is 413 if the call is no analysis", async () => {
    const { status, body } = await post(`${app.url}/v1/keys`, { name: "x".repeat(4 * 1024) });
    expect(status).toBe(413);
    expect(body).toMatchObject({ code: "body_too_large" });
  });

  test("a body that inflates to more than 64 KiB is 413", async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(10_000_000, " ")));
    const { status, body } = await post(`${app.url}/v1/eval`, bomb, { ...json, "Content-Encoding": "gzip" });
    expect(status).toBe(413);
    expect(body).toMatchObject({ code: "body_too_large" });
  });
});

describe("the page of a problem's type", () => {
  test.each(Object.entries(statuses))(
    "the page of a problem's type explains %s",
    async (code, [status, grpcCode]) => {
      const page = `${app.url}/problems/${code.replaceAll("_", "-")}`;
      const answer = await fetch(page);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(await answer.text()).toContain(
        `<code>${code}</code></a><br>HTTP ${status}<br>gRPC <code>${grpcCode}</code>`,
      );
    },
  );

  test("the page of a problem's type is at the address in the problem", async () => {
    const { body } = await post(`${app.url}/v1/eval`, {});
    expect((await fetch(app.url + String(body.type))).status).toBe(200);
  });
});
