import { create, toBinary, toJsonString } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import {
  AnalysisService,
  EvaluateBatchRequestSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService, ReviewGameRequestSchema } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { boundBinary, boundJson } from "../../src/calls/bound-request.ts";

const { evaluate, evaluateBatch } = AnalysisService.method;
const { reviewGame } = GameService.method;

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

const times = (count: number, text: string) => Array(count).fill(text).join();
const tooMany = expect.objectContaining({
  code: "out_of_range",
  violations: [
    expect.objectContaining({ pointer: "/requests", message: expect.stringContaining("not 201") }),
  ],
});
const tooLarge = expect.objectContaining({ code: "body_too_large" });
const malformed = expect.objectContaining({ code: "malformed_json" });

/** Every field has the maximum size that the .proto file allows. */
const fullItem = {
  fen: "f".repeat(128),
  moves: Array(600).fill("e4"),
  searchMoves: Array(218).fill("e2e4"),
  depth: 30,
  multipv: 10,
  movetimeMs: 60_000,
  nodes: 10n ** 9n,
  engine: "stockfish-19",
  options: { a: 1, b: true, c: "x" },
};
const batchOf = (count: number, item: object) =>
  create(EvaluateBatchRequestSchema, { requests: Array(count).fill(item) });
const reviewOf = (moves: number) =>
  create(ReviewGameRequestSchema, { pgn: "é".repeat(100_000), moves: Array(moves).fill("") });

describe("a request in JSON", () => {
  const refusalOf = (text: string, method: typeof evaluateBatch | typeof reviewGame = evaluateBatch) =>
    thrownBy(() => boundJson(text, method));

  test("a JSON batch of 256 KiB is decoded if each of its requests has the greatest allowed size", () => {
    const text = toJsonString(EvaluateBatchRequestSchema, batchOf(53, fullItem));
    expect([text.length > 250_000, refusalOf(text)]).toEqual([true, undefined]);
  });

  test("a JSON batch of 201 requests is refused", () => {
    expect(refusalOf(`{"requests":[${times(200, "{}")}]}`)).toBeUndefined();
    expect(refusalOf(`{"requests":[${times(201, "{}")}]}`)).toEqual(tooMany);
    expect(refusalOf(`{"requests":[${times(200, "{}")}],"requests":[1]}`)).toEqual(tooMany);
  });

  test("a JSON batch is refused if one of its requests exceeds 32 KiB or 1000 keys", () => {
    const fen = (bytes: number) => `{"requests":[{},{"fen":"${"a".repeat(bytes - 10)}"}]}`;
    expect([refusalOf(fen(32 * 1024)), refusalOf(fen(32 * 1024 + 1))]).toEqual([undefined, tooLarge]);
    const keys = (count: number) => `{"requests":[{},{${times(count, '"a":1')}},{"a":1}]}`;
    expect([refusalOf(keys(1000)), refusalOf(keys(1001))]).toEqual([undefined, malformed]);
  });

  test("a JSON batch is refused if its keys, values and lists together exceed 65,536", () => {
    const values = (count: number) => `{"requests":[${times(100, `[${times(count, "1")}]`)}]}`;
    expect([refusalOf(values(654)), refusalOf(values(655))]).toEqual([undefined, tooLarge]);
  });

  test("a JSON request with more than 32 nested levels is refused", () => {
    for (const method of [evaluateBatch, reviewGame]) {
      expect(refusalOf("[".repeat(32), method)).toBeUndefined();
      expect(refusalOf("[".repeat(33), method)).toEqual(malformed);
    }
  });

  test("a single JSON request is refused if it exceeds 1000 keys, or 65,536 keys, values and lists", () => {
    const keys = (count: number) => `{${times(count, '"a":1')}}`;
    expect([refusalOf(keys(1000), reviewGame), refusalOf(keys(1001), reviewGame)]).toEqual([
      undefined,
      malformed,
    ]);
    const moves = (count: number) => toJsonString(ReviewGameRequestSchema, reviewOf(count));
    expect([refusalOf(moves(65_532), reviewGame), refusalOf(moves(65_533), reviewGame)]).toEqual([
      undefined,
      tooLarge,
    ]);
  });
});

describe("a request in binary", () => {
  const batch = (bytes: Uint8Array) => thrownBy(() => boundBinary(bytes, evaluateBatch));
  const review = (bytes: Uint8Array) => thrownBy(() => boundBinary(bytes, reviewGame));
  const bytesOf = (count: number, item: object) => toBinary(EvaluateBatchRequestSchema, batchOf(count, item));

  test("a binary batch of 256 KiB is decoded if each of its requests has the greatest allowed size", () => {
    const bytes = bytesOf(64, fullItem);
    expect([bytes.length > 250_000, batch(bytes)]).toEqual([true, undefined]);
  });

  test("a binary batch of 201 requests is refused", () => {
    expect([batch(bytesOf(200, {})), batch(bytesOf(201, {}))]).toEqual([undefined, tooMany]);
  });

  test("a binary batch is refused if one of its requests exceeds 32 KiB", () => {
    const fen = (bytes: number) => bytesOf(1, { fen: "a".repeat(bytes - 4) });
    expect([batch(fen(32 * 1024)), batch(fen(32 * 1024 + 1))]).toEqual([undefined, tooLarge]);
  });

  test("a binary batch is refused if it exceeds 65,536 fields", () => {
    const moves = (count: number) => bytesOf(128, { moves: Array(count).fill("") });
    expect([batch(moves(511)), batch(moves(512))]).toEqual([undefined, tooLarge]);
  });

  test("a single binary request is refused if it exceeds 65,536 fields, known or unknown", () => {
    const moves = (count: number) => toBinary(ReviewGameRequestSchema, reviewOf(count));
    expect([review(moves(65_535)), review(moves(65_536))]).toEqual([undefined, tooLarge]);
    expect(review(Buffer.alloc(2 * 65_537, Buffer.from([15 << 3, 0])))).toEqual(tooLarge);
  });

  test("invalid protobuf bytes are refused before they are decoded", () => {
    expect(review(Buffer.alloc(70_000, 0xff))).toEqual(expect.objectContaining({ code: "invalid_type" }));
  });
});

describe("bytes that a decoder reads in another way than a scan", () => {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
  const field = (number: number, bytes: readonly number[]) => [
    (number << 3) | 2,
    ...varint(bytes.length),
    ...bytes,
  ];
  const unreadable = expect.objectContaining({ code: "invalid_type" });
  const optionsField = AnalysisService.method.evaluate.input.field.options.number;

  test.each<[string, readonly number[], typeof evaluateBatch | typeof evaluate]>([
    ["a list of messages with the wire type of a number", [0x08, 0x03, 0x10, 0x01, 0x07], evaluateBatch],
    ["a nested message whose text goes on behind its end", field(1, [0x0a, 0x7f]), evaluateBatch],
    [
      "a Struct that is repeated, which takes the square of its size",
      [...field(optionsField, field(1, field(1, [97]))), ...field(optionsField, [])],
      evaluate,
    ],
    [
      "a Struct in a Struct that is repeated",
      field(optionsField, field(1, [...field(1, [97]), ...field(2, [...field(5, []), ...field(5, [])])])),
      evaluate,
    ],
  ])("%s is refused before it is decoded", (_, bytes, method) => {
    const error = thrownBy(() => boundBinary(Uint8Array.from(bytes), method));
    expect(error).toEqual(unreadable);
  });

  test("a Struct with 1,000 options is decoded", () => {
    const options = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`option ${index}`, index]),
    );
    const message = create(evaluate.input, { fen: "startpos", options });
    expect(thrownBy(() => boundBinary(toBinary(evaluate.input, message), evaluate))).toBeUndefined();
  });
});
