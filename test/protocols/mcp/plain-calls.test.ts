import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService, ReviewGameResponseSchema } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { fromThisProcess } from "../../../src/calls/call.ts";
import type { Calls } from "../../../src/calls/create-calls.ts";
import { createPlainCalls } from "../../../src/protocols/mcp/plain-calls.ts";

const { evaluate } = AnalysisService.method;
const { reviewGame } = GameService.method;
function callsOf(calls: Partial<Calls>) {
  const none = () => expect.fail("nobody should ask that");
  const plain = createPlainCalls({
    calls: { unary: none, stream: none, ...calls },
    validate: async () => {},
  });
  return plain(fromThisProcess());
}

describe("calls in plain JSON", () => {
  test("a plain JSON call sends a message and converts the response to JSON", async () => {
    const calls = callsOf({
      unary: (method) => async (message) => {
        expect(message).toMatchObject({ fen: "startpos", depth: 5 });
        return create(method.output);
      },
    });
    const answer = await calls.once(evaluate, { fen: "startpos", depth: 5 });
    expect(answer).toMatchObject({ fen: "", lines: [], best_move: null });
  });

  test.each([
    [{ fen: 5 }, "invalid_type", "/fen"],
    [{ fen: "startpos", dept: 5 }, "unknown_field", "/dept"],
  ])("a plain JSON call refuses %j without calling the method", async (request, code, pointer) => {
    const violations = [expect.objectContaining({ pointer })];
    await expect(callsOf({}).once(evaluate, request)).rejects.toMatchObject({ code, violations });
    await expect(callsOf({}).check(evaluate, request)).rejects.toMatchObject({ code, violations });
  });

  test("`check` validates the fields of a plain JSON request without calling the RPC", async () => {
    const calls = callsOf({});
    await calls.check(evaluate, { fen: "no position" });
    await expect(calls.check(evaluate, { fen: "startpos", depth: 99 })).rejects.toMatchObject({
      code: "out_of_range",
    });
  });

  test("the error about a plain JSON request with a field of a wrong type contains a corrected request", async () => {
    await expect(callsOf({}).once(evaluate, { fen: "startpos", depth: "9" })).rejects.toMatchObject({
      suggestedRequest: { fen: "startpos", depth: 9 },
    });
  });

  test("in each event of a plain JSON stream, the field of the event's kind has a message, and the other fields are null", async () => {
    const calls = callsOf({
      stream: () =>
        async function* () {
          yield create(ReviewGameResponseSchema, { event: { case: "queued", value: { place: 3 } } });
          yield create(ReviewGameResponseSchema, {
            event: { case: "review", value: { pgn: "1. e4", summary: "Short.", moves: [{ ply: 1 }] } },
          });
        },
    });
    expect(await Array.fromAsync(calls.stream(reviewGame, { moves: ["e4"] }))).toMatchObject([
      { queued: { place: 3 }, review: null },
      { queued: null, review: { pgn: "1. e4", moves: [{ ply: 1 }] } },
    ]);
  });
});
