import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { defaultLimits, startFen } from "./cases/case.ts";
import { get, post } from "./post.ts";
import type { Plain } from "./protocol.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

const fen = "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1";

interface Violation {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly allowed: Plain | null;
}

async function violationsOf(body: Plain | string | Uint8Array<ArrayBuffer>): Promise<readonly Violation[]> {
  const { status, body: problem } = await post(`${app.url}/v1/eval`, body);
  const violations = problem.errors as readonly Violation[];
  expect(status).toBe(400);
  expect(problem.code).toBe(violations[0]?.code);
  return violations;
}

test.each(["/v1/eval", "/v1/bestmove", "/v1/eval/stream", "/v1/eval/batch", "/v1/review"])(
  "GET %s shows an example request, which the server answers",
  async (path) => {
    const { status, body } = await get(app.url + path);
    expect(status).toBe(405);
    const shown = /Send the request as JSON: curl (\S+) -H 'Content-Type: application\/json' -d '(.+)'$/;
    const [, url = "", request = ""] = shown.exec(String(body.detail)) ?? [];
    expect(url).toBe(app.url + path);
    expect(
      (await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: request }))
        .ok,
    ).toBe(true);
  },
);

test("a problem document has every documented field", async () => {
  const { status, headers, body } = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 0 });
  expect(status).toBe(400);
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(body).toStrictEqual({
    type: "/problems/out-of-range",
    title: "Out of range",
    status: 400,
    code: "out_of_range",
    detail: expect.stringContaining("`depth`"),
    instance: expect.stringMatching(/^urn:uuid:[0-9a-f-]{36}$/),
    request_id: headers.get("x-request-id"),
    next_action: "send_suggested_request",
    retryable: false,
    retry_after_ms: null,
    errors: [
      {
        pointer: "/depth",
        code: "out_of_range",
        message: body.detail,
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

test("in every call with a FEN, the violation for an invalid FEN contains the offset and the token", async () => {
  const request = { fen: ` ${startFen.replace("w", "white")}` };
  const problem = {
    errors: [{ pointer: "/fen", ply: null, token: "white", offset: 45, line: null, column: null }],
  };
  expect((await post(`${app.url}/v1/eval`, request)).body).toMatchObject(problem);
  expect((await post(`${app.url}/v1/review`, { ...request, moves: ["e4"] })).body).toMatchObject(problem);
  const batch = await post(`${app.url}/v1/eval/batch`, { requests: [{ fen: "startpos" }, request] });
  expect(batch.body).toMatchObject([{}, { problem }]);
});

test("a body of more than 4 KiB gets the status 413 if the call is not an analysis", async () => {
  const { status, body } = await post(`${app.url}/v1/keys`, { name: "x".repeat(4 * 1024) });
  expect(status).toBe(413);
  expect(body).toMatchObject({ code: "body_too_large" });
});

describe("an accepted form", () => {
  test.each([
    ["a key written with escapes", `{"fen": "${fen}", "dep\\u0074h": 4}`, 4],
    ["a byte order mark", `\ufeff{"fen": "${fen}", "depth": 4}`, 4],
  ])("plain JSON accepts %s", async (_, text, depth) => {
    const { status, body } = await post(`${app.url}/v1/eval`, text);
    expect(status).toBe(200);
    expect(body).toMatchObject({ search: { limits: { depth } } });
  });

  test("plain JSON treats null as the default value of every optional field", async () => {
    const absent = [
      "moves",
      "depth",
      "multipv",
      "movetime_ms",
      "engine",
      "path",
      "options",
      "nodes",
      "search_moves",
    ];
    const { status, body } = await post(`${app.url}/v1/eval`, {
      fen,
      ...Object.fromEntries(absent.map((name) => [name, null])),
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      engine: { id: "stockfish-19-lite" },
      search: {
        limits: defaultLimits,
      },
      warnings: [],
    });
  });

  test("plain JSON accepts every documented value of the field `path`", async () => {
    for (const path of ["auto", "wasm"]) {
      const { body } = await post(`${app.url}/v1/eval`, { fen, depth: 1, path });
      expect(body).toMatchObject({ engine: { path: "wasm" } });
    }
  });
});

describe("a refusal with its pointer", () => {
  test.each<[name: string, wrong: Plain, pointer: string, code: string]>([
    ["an unknown field", { deph: 3 }, "/deph", "unknown_field"],
    ["a key with slash and tilde", { "a/b~c": 1 }, "/a~1b~0c", "unknown_field"],
    ["null for the FEN", { fen: null }, "/fen", "invalid_type"],
    ["a number as text", { depth: "14" }, "/depth", "invalid_type"],
    ["an empty move", { moves: [""] }, "/moves/0", "illegal_move"],
    ["an unknown path", { path: "gpu" }, "/path", "out_of_range"],
    ["null for an option", { options: { skill_level: null } }, "/options/skill_level", "invalid_option"],
  ])("the error points to the invalid field if a JSON request has %s", async (_, wrong, pointer, code) => {
    expect(await violationsOf({ fen, ...wrong })).toMatchObject([{ pointer, code }]);
  });

  test.each([
    ["a repeated key", `{"fen": "${fen}", "depth": 1, "depth": 2}`, "/depth"],
    ["a repeated key with escapes", `{"fen": "${fen}", "\\u0066en": "x"}`, "/fen"],
    ["a repeated option", `{"fen": "${fen}", "options": {"a": 1, "a": 1}}`, "/options/a"],
    ["a truncated body", `{"fen": "${fen}"`, ""],
    ["a body with two JSON values", `{"fen": "${fen}"} {}`, ""],
    ["a trailing comma", `{"fen": "${fen}",}`, ""],
    ["single quotes", "{'fen': 1}", ""],
    ["an empty body", "", ""],
    ["a thousand open brackets", "[".repeat(1000), ""],
    ["invalid UTF-8", Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d), ""],
  ])("the error points to the invalid field if a JSON request has %s", async (_, text, pointer) => {
    expect(await violationsOf(text)).toMatchObject([{ pointer, code: "malformed_json" }]);
  });
});

describe("violations", () => {
  test("an error lists all violations of one stage of validation and has the code of the first violation", async () => {
    const violations = await violationsOf({ deph: 3, depth: "x", multipv: 11, moves: ["e4", 1] });
    expect(violations.map(({ pointer, code }) => [pointer, code])).toEqual([
      ["/deph", "unknown_field"],
      ["/depth", "invalid_type"],
      ["/moves/1", "invalid_type"],
      ["/fen", "invalid_fen"],
      ["/multipv", "out_of_range"],
    ]);
  });

  test.each<[string, Plain, string]>([
    ["fields before the position", { fen: "bad", depth: 0 }, "out_of_range"],
    ["the position before the engine", { fen: "bad", engine: "x" }, "invalid_fen"],
    ["the engine before its options", { fen, engine: "x", options: { y: 1 } }, "unknown_engine"],
  ])("requests are validated in stages: %s", async (_, request, code) => {
    expect(new Set((await violationsOf(request)).map((violation) => violation.code))).toEqual(
      new Set([code]),
    );
  });

  test("at most 20 violations are reported", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index}`, 1]));
    expect(await violationsOf({ fen, ...unknown })).toHaveLength(20);
    expect(await violationsOf({ fen, moves: Array(50).fill(7) })).toHaveLength(20);
    expect(await violationsOf({ fen, options: unknown })).toHaveLength(20);
  });

  test("a violation quotes at most 64 characters of the request", async () => {
    const long = "y".repeat(1000);
    const requests = [
      { fen, [long]: 1 },
      { fen, depth: long },
      { fen, path: long },
      { fen, options: { [long]: 1 } },
      { fen, moves: [long] },
      { fen, search_moves: [long] },
      { fen: `${"y".repeat(70)} w - - 0 1` },
      { fen, engine: "y".repeat(64) },
    ];
    for (const request of requests) {
      const { status, body } = await post(`${app.url}/v1/eval`, request);
      expect(status).toBe(400);
      expect(JSON.stringify({ ...body, suggested_request: null })).not.toContain("y".repeat(65));
    }
  });
});
