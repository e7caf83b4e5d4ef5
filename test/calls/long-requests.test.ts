import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { ReviewGameRequestSchema } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { refuseLongBinary, refuseLongJson } from "../../src/calls/long-requests.ts";

const maxBytes = 64 * 1024;
const tooLarge = expect.objectContaining({ code: "body_too_large" });

function thrownBy(act: () => void): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("a long request in JSON", () => {
  const refusalOf = (text: string) => thrownBy(() => refuseLongJson(Buffer.from(text)));
  const beside = (bytes: number) => `{"pgn":"${"x".repeat(200_000)}","moves":[${" ".repeat(bytes)}]}`;

  test("a request in JSON is long by its texts, whatever quotes and letters they have", () => {
    for (const part of ["x", '\\"', "\\\\", "\\u00e9", "é", "[", "\\n"]) {
      expect(refusalOf(`{"depth":3,"pgn":"${part.repeat(50_000)}","moves":["e4"]}`), part).toBeUndefined();
    }
    expect(refusalOf(beside(maxBytes - 100))).toBeUndefined();
  });

  test("a long request in JSON is refused if its other parts are larger than in any valid request", () => {
    expect(refusalOf(beside(maxBytes))).toEqual(tooLarge);
    expect(refusalOf(`{"moves":[${'"",'.repeat(170_000)}""]}`)).toEqual(tooLarge);
    expect(refusalOf(`{"moves":[${'"e4",'.repeat(20_000)}"e4"]}`)).toEqual(tooLarge);
    expect(refusalOf("[".repeat(maxBytes + 1))).toEqual(tooLarge);
  });
});

describe("a long request in binary", () => {
  const refusalOf = (bytes: Uint8Array) => thrownBy(() => refuseLongBinary(bytes));
  const messageOf = (moves: number) => {
    const message = { pgn: "é".repeat(100_000), moves: Array.from({ length: moves }, () => "e4") };
    return toBinary(ReviewGameRequestSchema, create(ReviewGameRequestSchema, message));
  };

  test("a request in binary is long by its texts", () => {
    expect(refusalOf(messageOf(maxBytes / 4))).toBeUndefined();
  });

  test("a long request in binary is refused if its other parts are larger than in any valid request", () => {
    expect(refusalOf(messageOf(maxBytes / 4 + 1))).toEqual(tooLarge);
    // Fields that nobody knows, too.
    expect(refusalOf(Buffer.alloc(maxBytes + 2, Buffer.from([15 << 3, 0])))).toEqual(tooLarge);
  });

  test("a binary request that is no message is left to the decoder", () => {
    expect(refusalOf(Buffer.alloc(maxBytes + 2, 0xff))).toBeUndefined();
  });
});
