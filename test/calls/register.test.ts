import { create, type Message } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { type Call, type Implementation, localCall } from "../../src/calls/call.ts";
import type { Middleware } from "../../src/calls/middleware.ts";
import { createCalls } from "../../src/calls/register.ts";

const { evaluate, streamEvaluate, findBestMove } = AnalysisService.method;
const request = create(AnalysisRequestSchema, { fen: "a fen" });

const implementing = (methods: Readonly<Record<string, unknown>>): Implementation => ({
  service: AnalysisService,
  methods: methods as never,
});

test("a handler runs inside all of its middleware, and the first middleware is the outermost", async () => {
  const order: string[] = [];
  const recorder =
    (name: string): Middleware =>
    (handler) =>
      async function* (message, call) {
        order.push(`${name} before`);
        yield* handler(message, call);
        order.push(`${name} after`);
      };
  const calls = createCalls(
    [implementing({ evaluate: async () => ({}) })],
    [recorder("outer"), recorder("inner")],
  );
  await calls.unary(evaluate)(request, localCall(evaluate));
  expect(order).toEqual(["outer before", "inner before", "inner after", "outer after"]);
});

test("a unary method gets the message and the call, and its result is completed with default values", async () => {
  let given: readonly unknown[] = [];
  const method = async (message: Message, call: Call) => {
    given = [message, call];
    return { summary: "an answer" };
  };
  const call = localCall(evaluate);
  const answer = await createCalls([implementing({ evaluate: method })], []).unary(evaluate)(request, call);
  expect(given).toEqual([request, call]);
  expect(answer).toMatchObject({ $typeName: evaluate.output.typeName, summary: "an answer", lines: [] });
});

test("the messages of a stream are completed with default values, including nested messages", async () => {
  const method = async function* () {
    yield { event: { case: "evaluation", value: { summary: "one" } } };
  };
  const calls = createCalls([implementing({ streamEvaluate: method })], []);
  const answers = await Array.fromAsync(calls.stream(streamEvaluate)(request, localCall(streamEvaluate)));
  expect(answers).toMatchObject([
    { event: { value: { $typeName: evaluate.output.typeName, summary: "one", lines: [] } } },
  ]);
});

test("a missing method or a method of the wrong kind is a TypeError at the start of the server", () => {
  const calls = createCalls([implementing({ evaluate: async () => ({}) })], []);
  expect(() => calls.unary(streamEvaluate)).toThrow(/StreamEvaluate has no unary answer/);
  expect(() => calls.unary(KeyService.method.getKey)).toThrow(/GetKey has no handler/);
  expect(findBestMove).toBeDefined();
});
