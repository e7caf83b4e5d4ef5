import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import type { Plain } from "./door.ts";
import { get, post } from "./post.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

/** Quickly searched at every depth. */
const fen = "8/8/4k3/8/8/4K3/4P3/8 w - - 0 1";

interface Fault {
  readonly pointer: string;
  readonly code: string;
  readonly message: string;
  readonly allowed: Plain | null;
}

async function faultsOf(body: Plain | string | Uint8Array<ArrayBuffer>): Promise<readonly Fault[]> {
  const { status, body: problem } = await post(`${app.url}/v1/eval`, body);
  const faults = problem.errors as readonly Fault[];
  expect(status).toBe(400);
  expect(problem.code).toBe(faults[0]?.code);
  return faults;
}

test.each(["/v1/eval", "/v1/bestmove", "/v1/eval/stream", "/v1/eval/batch", "/v1/review"])(
  "GET %s shows a request to post, which is answered",
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

test("a PGN that is sent as a bare string is refused with the right form", async () => {
  const { status, body } = await post(`${app.url}/v1/review`, '"1. e4 e5"');
  expect([status, body.detail]).toEqual([
    400,
    'The body must be a JSON object such as {"pgn":"1. e4 e5"}, not "1. e4 e5".',
  ]);
});

describe("what is accepted", () => {
  test.each([
    ["an integer with a fraction of zero", `{"fen": "${fen}", "depth": 4.0}`, 4],
    ["an integer with an exponent", `{"fen": "${fen}", "depth": 0.4e1}`, 4],
    ["a key written with escapes", `{"fen": "${fen}", "dep\\u0074h": 4}`, 4],
    ["white space anywhere", `\n{ "fen" :\t"${fen}" , "depth" : 4 }\r\n`, 4],
    ["a byte order mark", `\ufeff{"fen": "${fen}", "depth": 4}`, 4],
  ])("plain JSON accepts %s", async (_, text, depth) => {
    const { status, body } = await post(`${app.url}/v1/eval`, text);
    expect(status).toBe(200);
    expect(body).toMatchObject({ search: { limits: { depth } } });
  });

  test("plain JSON accepts null for every optional field, which then has its default", async () => {
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
        limits: { depth: 14, multipv: 1, movetime_ms: null, options: {}, nodes: null, search_moves: [] },
      },
      warnings: [],
    });
  });

  test("plain JSON accepts every word of path", async () => {
    for (const path of ["auto", "wasm"]) {
      const { body } = await post(`${app.url}/v1/eval`, { fen, depth: 1, path });
      expect(body).toMatchObject({ engine: { path: "wasm" } });
    }
  });
});

describe("what is refused, with its place", () => {
  test.each<[name: string, wrong: Plain, pointer: string, code: string]>([
    ["a field that is not known", { deph: 3 }, "/deph", "unknown_field"],
    ["a field in camel case", { movetimeMs: 100 }, "/movetimeMs", "unknown_field"],
    ["a key with slash and tilde", { "a/b~c": 1 }, "/a~1b~0c", "unknown_field"],
    ["null for the FEN", { fen: null }, "/fen", "invalid_type"],
    ["a FEN that is a number", { fen: 8 }, "/fen", "invalid_type"],
    ["a number as text", { depth: "14" }, "/depth", "invalid_type"],
    ["a number with a fraction", { depth: 14.5 }, "/depth", "invalid_type"],
    ["true for a number", { multipv: true }, "/multipv", "invalid_type"],
    ["a number below zero", { depth: -1 }, "/depth", "out_of_range"],
    ["a number that 32 bits do not hold", { movetime_ms: 2 ** 32 }, "/movetime_ms", "out_of_range"],
    ["moves that are no list", { moves: "e4" }, "/moves", "invalid_type"],
    ["a move that is no text", { moves: ["e3", 5] }, "/moves/1", "invalid_type"],
    ["null for a move", { moves: [null] }, "/moves/0", "invalid_type"],
    ["an empty move", { moves: [""] }, "/moves/0", "illegal_move"],
    ["an engine that is no text", { engine: 19 }, "/engine", "invalid_type"],
    ["a path that is not known", { path: "gpu" }, "/path", "out_of_range"],
    ["a path in capitals", { path: "WASM" }, "/path", "out_of_range"],
    ["the name that the proto has for a path", { path: "PATH_WASM" }, "/path", "out_of_range"],
    ["the number that the proto has for a path", { path: 2 }, "/path", "invalid_type"],
    ["options that are a list", { options: [] }, "/options", "invalid_type"],
    ["null for an option", { options: { skill_level: null } }, "/options/skill_level", "invalid_option"],
    ["an object for an option", { options: { skill_level: {} } }, "/options/skill_level", "invalid_option"],
  ])("plain JSON refuses, with its pointer, %s", async (_, wrong, pointer, code) => {
    expect(await faultsOf({ fen, ...wrong })).toMatchObject([{ pointer, code }]);
  });

  test("plain JSON refuses, with its pointer, a field that every object inherits", async () => {
    const faults = await faultsOf(`{"fen": "${fen}", "__proto__": {"depth": 3}, "constructor": 1}`);
    expect(faults.map(({ pointer, code }) => [pointer, code])).toEqual([
      ["/__proto__", "unknown_field"],
      ["/constructor", "unknown_field"],
    ]);
  });

  test("plain JSON refuses, with its pointer, a number that is infinite", async () => {
    const faults = await faultsOf(`{"fen": "${fen}", "depth": 1e999}`);
    expect(faults).toMatchObject([{ pointer: "/depth", code: "out_of_range" }]);
  });

  test.each([
    ["a key that stands twice", `{"fen": "${fen}", "depth": 1, "depth": 2}`, "/depth"],
    ["a key that stands twice, once in escapes", `{"fen": "${fen}", "\\u0066en": "x"}`, "/fen"],
    ["an option that stands twice", `{"fen": "${fen}", "options": {"a": 1, "a": 1}}`, "/options/a"],
    ["a body that is cut off", `{"fen": "${fen}"`, ""],
    ["two values", `{"fen": "${fen}"} {}`, ""],
    ["a comma too many", `{"fen": "${fen}",}`, ""],
    ["single quotes", "{'fen': 1}", ""],
    ["nothing", "", ""],
    ["a thousand open brackets", "[".repeat(1000), ""],
    ["what is not UTF-8", Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d), ""],
  ])("plain JSON refuses, with its pointer, %s", async (_, text, pointer) => {
    expect(await faultsOf(text)).toMatchObject([{ pointer, code: "malformed_json" }]);
  });

  test.each(["[]", "null", "7", '"fen"'])("plain JSON refuses %s as a body", async (text) => {
    expect(await faultsOf(text)).toMatchObject([{ pointer: "", code: "invalid_type" }]);
  });
});

describe("faults", () => {
  test("violations of one stage are reported at once, and the first one gives the code", async () => {
    const faults = await faultsOf({ deph: 3, depth: "x", multipv: 11, moves: ["e4", 1] });
    expect(faults.map(({ pointer, code }) => [pointer, code])).toEqual([
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
    expect(new Set((await faultsOf(request)).map((fault) => fault.code))).toEqual(new Set([code]));
  });

  test("at most 20 violations are reported", async () => {
    const unknown = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index}`, 1]));
    expect(await faultsOf({ fen, ...unknown })).toHaveLength(20);
    expect(await faultsOf({ fen, moves: Array(50).fill(7) })).toHaveLength(20);
    expect(await faultsOf({ fen, options: unknown })).toHaveLength(20);
  });

  test("violations repeat at most 64 characters of the caller", async () => {
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

  test("a violation of a name says which name was meant, and the allowed ones", async () => {
    expect(await faultsOf({ fen, movetimeMs: 5 })).toMatchObject([
      { message: expect.stringContaining("did you mean `movetime_ms`?") },
    ]);
    expect(await faultsOf({ fen, path: "gpu" })).toMatchObject([
      { allowed: { enum: ["auto", "wasm", "native"] } },
    ]);
    expect(await faultsOf({ fen, depth: 31 })).toMatchObject([{ allowed: { minimum: 1, maximum: 30 } }]);
    expect(await faultsOf({ fen, nodes: "many" })).toMatchObject([
      { allowed: { minimum: 1, maximum: 1_000_000_000 } },
    ]);
    expect(await faultsOf({ fen, engine: "x" })).toMatchObject([
      { allowed: { enum: ["latest", "stockfish-19", "stockfish-19-lite"] } },
    ]);
  });

  test("a violation that another number fixes comes with a suggested request, which is answered", async () => {
    const request = { fen: startFen, depth: 99, multipv: 0, moves: ["e4"] };
    const { body } = await post(`${app.url}/v1/eval`, request);
    expect(body).toMatchObject({
      next_action: "send_suggested_request",
      suggested_request: { fen: startFen, depth: 30, multipv: 1, moves: ["e4"] },
    });
  });

  test("a FEN without its last fields is refused with a suggested request, which is answered", async () => {
    const { body } = await post(`${app.url}/v1/eval`, { fen: "8/8/4k3/8/8/4K3/4P3/8 b", depth: 3 });
    const suggested = body.suggested_request as Plain;
    expect(suggested).toEqual({ fen: "8/8/4k3/8/8/4K3/4P3/8 b - - 0 1", depth: 3 });
    expect((await post(`${app.url}/v1/eval`, suggested)).status).toBe(200);
  });
});
