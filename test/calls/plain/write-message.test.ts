import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  EngineSchema,
  type NetSize,
  Path,
  ScoreSchema,
  SearchSchema,
  StopReason,
  Variant,
} from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  EvaluateBatchResponseSchema,
  EvaluateResponseSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import {
  CreateKeyResponseSchema,
  RevokeKeyResponseSchema,
} from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { createMessageWriter } from "../../../src/calls/plain/write-message.ts";
import { messageWith } from "./made-up-proto.ts";

const plainOf = (desc: DescMessage, message: Message) => JSON.parse(createMessageWriter(desc)(message));

describe("an evaluation", () => {
  it("an evaluation is written with every field, in the order of the proto", () => {
    const plain = plainOf(EvaluateResponseSchema, create(EvaluateResponseSchema));
    expect(Object.keys(plain)).toEqual(EvaluateResponseSchema.fields.map(({ name }) => name));
    // A field of each kind.
    expect(plain).toMatchObject({ id: "", turn: null, chess960: false, engine: null, lines: [] });
  });
});

it("64-bit integers are written as numbers", () => {
  const search = create(SearchSchema, { nodes: 97789n, nps: 2n ** 53n, stopReason: StopReason.SERVER_LIMIT });
  expect(plainOf(SearchSchema, search)).toMatchObject({
    nodes: 97789,
    nps: 9007199254740992,
    tbhits: 0,
    stop_reason: "server_limit",
    limits: null,
  });
});

it("the selected field of a oneof is written with its value, and the other fields of the oneof are written as null", () => {
  const writeScore = (score: Message) => plainOf(ScoreSchema, score);
  expect(writeScore(create(ScoreSchema))).toMatchObject({ cp: null, mate: null });
  expect(writeScore(create(ScoreSchema, { value: { case: "cp", value: -35 } }))).toMatchObject({
    cp: -35,
    mate: null,
  });
  const problem = create(EvaluateBatchResponseSchema, {
    index: 3,
    outcome: { case: "problem", value: { code: "invalid_fen", suggestedRequest: { fen: "8/8" } } },
  });
  expect(plainOf(EvaluateBatchResponseSchema, problem)).toMatchObject({
    index: 3,
    result: null,
    problem: { code: "invalid_fen", retry_after_ms: null, errors: [], suggested_request: { fen: "8/8" } },
  });
});

it("enums in lists and structs are written, and an unknown enum number is written as null", () => {
  const engine = create(EngineSchema, {
    variants: [Variant.STANDARD, Variant.CHESS960],
    paths: [{ path: Path.WASM, net: 99 as NetSize }],
    optionsSchema: { type: "object", properties: { skill_level: { maximum: 20 } } },
  });
  expect(plainOf(EngineSchema, engine)).toMatchObject({
    license: null,
    variants: ["standard", "chess960"],
    paths: [{ path: "wasm", net: null }],
    options_schema: { type: "object", properties: { skill_level: { maximum: 20 } } },
    options_defaults: null,
  });
});

it("maps are written as objects, with `__proto__` as a key like any other", () => {
  const desc = messageWith({ name: "left", type: Type.UINT64, map: true });
  const left = Object.fromEntries([
    ["__proto__", 1n],
    ["minute", 59n],
  ]);
  expect(createMessageWriter(desc)({ $typeName: desc.typeName, left } as Message)).toBe(
    '{"left":{"__proto__":1,"minute":59}}',
  );
});

it("a time is written as RFC 3339", () => {
  const createdAt = { seconds: 1795262400n, nanos: 500_000_000 };
  const plain = plainOf(CreateKeyResponseSchema, create(CreateKeyResponseSchema, { createdAt }));
  expect(plain).toMatchObject({ created_at: "2026-11-21T12:00:00.500Z", name: null });
});

it("a message without fields is written as {}", () => {
  expect(plainOf(RevokeKeyResponseSchema, create(RevokeKeyResponseSchema))).toEqual({});
});

it("a message type with an unsupported field is refused, and the error names the field", () => {
  const build = (type: Type, typeName?: string) => () =>
    createMessageWriter(messageWith({ name: "raw", type, ...(typeName !== undefined && { typeName }) }));
  expect(build(Type.BYTES)).toThrow("Thing.raw: this type is not supported in plain JSON");
  expect(build(Type.FLOAT)).toThrow("Thing.raw");
  expect(build(Type.MESSAGE, ".google.protobuf.Duration")).toThrow("Thing.raw");
});
