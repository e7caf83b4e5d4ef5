import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { failureOf, problemOf } from "../../../web/src/client/problem.ts";

const outgoing = (value: object) => ({ desc: ProblemSchema, value: create(ProblemSchema, value) });

test("the page reads the error document of the service", () => {
  const error = new ConnectError("no", Code.PermissionDenied, undefined, [
    outgoing({ code: "upgrade_needed" }),
  ]);
  expect(failureOf(error)).toMatchObject({ kind: "problem", problem: { code: "upgrade_needed" } });
});

test("the page finds the violations in the details of an error", () => {
  const violations = [{ field: "moves[3]", reason: "ILLEGAL_MOVE", description: "No." }];
  const error = new ConnectError("no", Code.InvalidArgument, undefined, [
    { desc: BadRequestSchema, value: create(BadRequestSchema, { fieldViolations: violations }) },
    outgoing({ code: "illegal_move" }),
  ]);
  expect(problemOf(error)?.errors).toMatchObject([
    { pointer: "/moves/3", code: "illegal_move", message: "No." },
  ]);
});

test.each([
  ["nobody answers", new TypeError("Failed to fetch"), { kind: "lost" }],
  ["the connection breaks off", new TypeError("network error"), { kind: "lost" }],
  ["a stream has no end", "missing EndStreamResponse", { kind: "lost" }],
  ["a proxy finds no service", new ConnectError("HTTP 502", Code.Unavailable), { kind: "lost" }],
  [
    "another program answers",
    new ConnectError("HTTP 404", Code.Unimplemented),
    { kind: "foreign", said: "HTTP 404" },
  ],
  ["the caller aborts", new DOMException("This operation was aborted", "AbortError"), { kind: "aborted" }],
])("the page recognises the cause of an error: %s", (_, thrown, failure) => {
  expect(failureOf(thrown)).toEqual(failure);
  expect(failureOf(ConnectError.from(thrown))).toEqual(failure);
});
