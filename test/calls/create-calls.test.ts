import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import { type Implementation, localCall } from "../../src/calls/call.ts";
import { createCalls } from "../../src/calls/create-calls.ts";
import type { Middleware } from "../../src/calls/middleware.ts";

const { evaluate, streamEvaluate } = AnalysisService.method;
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

test("a missing method or a method of the wrong kind is a TypeError at the start of the server", () => {
  const calls = createCalls([implementing({ evaluate: async () => ({}) })], []);
  expect(() => calls.unary(streamEvaluate)).toThrow(/StreamEvaluate has no unary answer/);
  expect(() => calls.unary(KeyService.method.getKey)).toThrow(/GetKey has no handler/);
});
