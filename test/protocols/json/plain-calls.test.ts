import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService, ReviewGameResponseSchema } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { localAccount } from "../../../src/access/account.ts";
import { localCall } from "../../../src/calls/call.ts";
import type { Calls } from "../../../src/calls/register.ts";
import { createRules } from "../../../src/calls/rules.ts";
import { errorFromFaults, KibitzError } from "../../../src/errors/errors.ts";
import { createPlainCalls } from "../../../src/protocols/json/plain-calls.ts";

const { evaluate } = AnalysisService.method;
const { reviewGame } = GameService.method;
const tooDeep = errorFromFaults([
  { pointer: "/depth", code: "out_of_range", message: "Too deep.", allowed: { minimum: 1, maximum: 9 } },
]);

/** Answers with what it is given. */
function callsOf(calls: Partial<Calls>, judge: (message: unknown) => Promise<void> = async () => {}) {
  const none = () => expect.fail("nobody should ask that");
  return createPlainCalls({
    calls: { unary: none, stream: none, ...calls },
    faultsOf: createRules(),
    judge,
  });
}

describe("calls in plain JSON", () => {
  test("a call in plain JSON sends a message, and reads the answer", async () => {
    const calls = callsOf({
      unary: (method) => async (message) => {
        expect(message).toMatchObject({ fen: "startpos", depth: 5 });
        return create(method.output);
      },
    });
    const answer = await calls.once({ fen: "startpos", depth: 5 }, localCall(evaluate));
    expect(answer).toMatchObject({ fen: "", lines: [], best_move: null });
  });

  test.each([
    [{ fen: 5 }, "invalid_type", "/fen"],
    [{ fen: "startpos", dept: 5 }, "unknown_field", "/dept"],
  ])("a call in plain JSON refuses %j before it is sent", async (request, code, pointer) => {
    const faults = [expect.objectContaining({ pointer })];
    await expect(callsOf({}).once(request, localCall(evaluate))).rejects.toMatchObject({ code, faults });
    await expect(callsOf({}).check(evaluate, request, localAccount)).rejects.toMatchObject({ code, faults });
  });

  test("a call in plain JSON checks only the fields of its request", async () => {
    const calls = callsOf({}, () => Promise.reject(new KibitzError("upgrade_needed", "No.")));
    await calls.check(evaluate, { fen: "no position" }, localAccount);
    await expect(calls.check(evaluate, { fen: "startpos", depth: 99 }, localAccount)).rejects.toMatchObject({
      code: "out_of_range",
    });
    await expect(calls.judge(evaluate, { fen: "startpos" }, localAccount)).rejects.toMatchObject({
      code: "upgrade_needed",
    });
  });

  test("a call in plain JSON gets suggestions in plain JSON", async () => {
    const calls = callsOf({ unary: () => () => Promise.reject(tooDeep) });
    await expect(calls.once({ fen: "startpos", depth: 12 }, localCall(evaluate))).rejects.toMatchObject({
      suggestedRequest: { fen: "startpos", depth: 9 },
    });
  });

  test("a call in plain JSON reads the messages of a stream, and null for what is not chosen in them", async () => {
    const calls = callsOf({
      stream: () =>
        async function* () {
          yield create(ReviewGameResponseSchema, { event: { case: "queued", value: { place: 3 } } });
          yield create(ReviewGameResponseSchema, {
            event: { case: "review", value: { pgn: "1. e4", summary: "Short.", moves: [{ ply: 1 }] } },
          });
        },
    });
    expect(await Array.fromAsync(calls.stream({ moves: ["e4"] }, localCall(reviewGame)))).toMatchObject([
      { queued: { place: 3 }, review: null },
      { queued: null, review: { pgn: "1. e4", moves: [{ ply: 1 }] } },
    ]);
  });
});
