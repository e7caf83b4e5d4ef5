import { expect, test } from "vitest";
import { ProblemSchema } from "../../gen/chess/analysis/v1/problem_pb.ts";
import { problemMessage } from "../../src/calls/convert-problem.ts";
import { createMessageWriter } from "../../src/calls/plain/write-message.ts";
import { errorFromViolations, KibitzError } from "../../src/errors/errors.ts";
import { problemFromError } from "../../src/errors/problem.ts";

test.each([
  new KibitzError("overloaded", "busy", { retryAfterMs: 1500 }),
  errorFromViolations(
    [
      { pointer: "/depth", code: "out_of_range", message: "no", allowed: { minimum: 1, maximum: 30 } },
      { pointer: "/fen", code: "invalid_fen", message: "no" },
    ],
    { suggestedRequest: { fen: "x", depth: 30 } },
  ),
  new KibitzError("upgrade_needed", "more", { upgrade: { plan: "free", url: "/v1/keys" } }),
])("an error inside a batch has the same fields as a problem document: $code", (error) => {
  const written = JSON.parse(createMessageWriter(ProblemSchema)(problemMessage(error, "id-1")));
  expect(written).toEqual({ ...problemFromError(error, "id-1"), instance: written.instance });
});

test("an error that ends its texts with half of a surrogate pair is a message of protobuf", () => {
  const error = errorFromViolations([
    { pointer: "/\ud800", code: "invalid_fen", message: "no \udc00", place: { token: "\ud800" } },
  ]);
  const { detail, errors } = problemMessage(error, "id-1");
  expect(detail).toBe("no \ufffd");
  expect(errors).toMatchObject([{ pointer: "/\ufffd", message: "no \ufffd", token: "\ufffd" }]);
});

test("an error with a suggested request that protobuf cannot contain becomes a message without this request", () => {
  const error = new KibitzError("out_of_range", "no", { suggestedRequest: { depth: 1n } });
  const message = problemMessage(error, "id-1");
  expect(message).toMatchObject({ code: "out_of_range", detail: "no", nextAction: "fix_request" });
  expect(message.suggestedRequest).toBeUndefined();
});
