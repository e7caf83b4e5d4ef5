import { readFileSync } from "node:fs";
import { create, type DescMessage, getOption, type MessageInitShape } from "@bufbuild/protobuf";
import { field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, test } from "vitest";
import {
  AnalysisRequestSchema,
  file_chess_analysis_v1_analysis,
  Path,
} from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  EvaluateBatchRequestSchema,
  GetPriceRequestSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import {
  CreateKeyRequestSchema,
  file_chess_analysis_v1_key_service,
} from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { batchItemsMax, requestBounds } from "../../src/analysis/analysis.ts";
import { boundsOfField, boundsOfList, checkRules } from "../../src/calls/rules.ts";

test("the proto and the validation of requests have the same ranges", () => {
  const rangeOf = (name: string) => {
    const field = AnalysisRequestSchema.fields.find((one) => one.name === name);
    return boundsOfField(field ?? expect.fail(`there is no ${name}`), { minimum: 0, maximum: 0 });
  };
  expect(requestBounds.depth).toMatchObject(rangeOf("depth"));
  expect(requestBounds.multipv).toMatchObject(rangeOf("multipv"));
  expect(requestBounds.movetimeMs).toEqual(rangeOf("movetime_ms"));
  expect(requestBounds.nodes).toEqual(rangeOf("nodes"));
  expect(boundsOfList(EvaluateBatchRequestSchema.field.requests).maximum).toBe(batchItemsMax);
});

test("the proto files and docs/api.md name the default depth of a search", () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  const depth = requestBounds.depth.default;
  const comment = `// Search depth in plies, 1 to 30. The default is ${depth}`;
  expect(read("proto/chess/analysis/v1/analysis.proto")).toContain(comment);
  expect(read("proto/chess/analysis/v1/game_service.proto")).toContain(comment);
  expect(read("docs/api.md")).toContain(`| \`depth\` | ${depth} | plies, 1 to 30;`);
});

const violationsOf = <D extends DescMessage>(desc: D, init: MessageInitShape<D>) =>
  checkRules(create(desc, init), desc);

type RequestInit = MessageInitShape<typeof AnalysisRequestSchema>;

describe("a request within the rules has no violations", () => {
  test.each<[RequestInit]>([
    [{ fen: "not validated here" }],
    [{ fen: "x".repeat(128), moves: Array(600).fill("e4"), depth: 1, multipv: 1, movetimeMs: 50 }],
    [{ fen: "x", depth: 30, multipv: 10, movetimeMs: 60_000, engine: "x".repeat(64), path: Path.NATIVE }],
    [{ fen: "x", nodes: 1n, searchMoves: Array(218).fill("x".repeat(16)) }],
    [{ fen: "x", nodes: 1_000_000_000n }],
    [{ fen: "x", path: Path.UNSPECIFIED, options: { anything: [1, { two: null }] } }],
  ])("a request within the rules has no violations: %o", (init) => {
    expect(violationsOf(AnalysisRequestSchema, init)).toEqual([]);
  });
});

describe("a violation has a pointer, a message and the allowed range", () => {
  test.each<[RequestInit, pointer: string, code: string, message: RegExp, allowed: object | undefined]>([
    [{}, "/fen", "invalid_fen", /^`fen` is required: it is missing or empty\.$/, undefined],
    [
      { fen: "x".repeat(129) },
      "/fen",
      "invalid_fen",
      /^`fen` must have at most 128 characters, not 129\.$/,
      undefined,
    ],
    [
      { depth: 0 },
      "/depth",
      "out_of_range",
      /^`depth` must be from 1 to 30, not 0\.$/,
      { minimum: 1, maximum: 30 },
    ],
    [
      { depth: 31 },
      "/depth",
      "out_of_range",
      /^`depth` must be from 1 to 30, not 31\.$/,
      { minimum: 1, maximum: 30 },
    ],
    [
      { multipv: 11 },
      "/multipv",
      "out_of_range",
      /^`multipv` must be from 1 to 10/,
      { minimum: 1, maximum: 10 },
    ],
    [
      { movetimeMs: 49 },
      "/movetime_ms",
      "out_of_range",
      /^`movetime_ms` must be from 50 to 60000/,
      { minimum: 50, maximum: 60_000 },
    ],
    [
      { moves: Array(601).fill("e4") },
      "/moves",
      "out_of_range",
      /^`moves` must have at most 600 items, not 601\.$/,
      undefined,
    ],
    [{ moves: ["e4", ""] }, "/moves/1", "illegal_move", /^`moves\[1\]` must not be empty\.$/, undefined],
    [
      { moves: ["x".repeat(17)] },
      "/moves/0",
      "illegal_move",
      /^`moves\[0\]` must have at most 16 characters, not 17\.$/,
      undefined,
    ],
    [
      { nodes: 0n },
      "/nodes",
      "out_of_range",
      /^`nodes` must be from 1 to 1000000000, not 0\.$/,
      { minimum: 1, maximum: 1_000_000_000 },
    ],
    [
      { nodes: 2n ** 64n - 1n },
      "/nodes",
      "out_of_range",
      /^`nodes` must be from 1 to 1000000000, not 18446744073709551615\.$/,
      { minimum: 1, maximum: 1_000_000_000 },
    ],
    [
      { searchMoves: Array(219).fill("e4") },
      "/search_moves",
      "out_of_range",
      /^`search_moves` must have at most 218 items, not 219\.$/,
      undefined,
    ],
    [
      { searchMoves: ["e4", ""] },
      "/search_moves/1",
      "illegal_move",
      /^`search_moves\[1\]` must not be empty\.$/,
      undefined,
    ],
    [
      { engine: "x".repeat(65) },
      "/engine",
      "out_of_range",
      /^`engine` must have at most 64 characters, not 65\.$/,
      undefined,
    ],
    [
      { path: 4 as Path },
      "/path",
      "out_of_range",
      /^`path` must be one of auto, wasm, native, not 4\.$/,
      undefined,
    ],
  ])(
    "an invalid request has a violation with the pointer, the message and the allowed range: %#: %o",
    (init, pointer, code, message, allowed) => {
      const violations = violationsOf(AnalysisRequestSchema, {
        fen: init.fen ?? (pointer === "/fen" ? "" : "x"),
        ...init,
      });
      expect(violations).toEqual([
        { pointer, code, message: expect.stringMatching(message), ...(allowed && { allowed }) },
      ]);
    },
  );

  test("violations are in the order of the fields in the proto", () => {
    const violations = violationsOf(AnalysisRequestSchema, {
      movetimeMs: 1,
      multipv: 0,
      depth: 99,
      moves: [""],
    });
    expect(violations.map(({ pointer }) => pointer)).toEqual([
      "/fen",
      "/moves/0",
      "/depth",
      "/multipv",
      "/movetime_ms",
    ]);
  });

  test("a batch with 0 or 201 requests has a violation, but a batch that contains invalid requests has no violation", () => {
    const batchOf = (requests: readonly RequestInit[]) =>
      violationsOf(EvaluateBatchRequestSchema, { requests: [...requests] });
    expect(batchOf([{ fen: "x" }, { fen: "x", depth: 0 }, { moves: [""] }])).toEqual([]);
    expect(batchOf([])).toMatchObject([
      { pointer: "/requests", code: "out_of_range", message: "`requests` must have at least 1 item, not 0." },
    ]);
    expect(batchOf(Array(200).fill({ fen: "x" }))).toEqual([]);
    expect(batchOf(Array(201).fill({ fen: "x" }))).toMatchObject([{ pointer: "/requests" }]);
  });

  test("every call of the API is validated by the rules", () => {
    expect(violationsOf(GetPriceRequestSchema, { depth: 31 })).toMatchObject([{ pointer: "/depth" }]);
    expect(violationsOf(CreateKeyRequestSchema, { name: "x".repeat(65) })).toMatchObject([
      { pointer: "/name" },
    ]);
  });
});

test("every pattern in the proto has an error message", () => {
  const messages = [file_chess_analysis_v1_analysis, file_chess_analysis_v1_key_service]
    .flatMap((file) => file.messages)
    .filter(({ name }) => name.endsWith("Request"));
  const fields = messages.flatMap((message) => message.fields);
  const patterned = fields.filter((field) => {
    const { type } = getOption(field, fieldRules);
    return type.case === "string" && type.value.pattern !== "";
  });
  expect(patterned.length).toBeGreaterThan(1);
  for (const field of patterned) {
    const desc = field.parent;
    const found = checkRules(create(desc, { [field.localName]: " \u0001 ".repeat(6) }), desc);
    expect(found.map(({ message }) => message).join()).toMatch(/must (not contain|consist of) /);
  }
});
