import { Code, ConnectError } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { describe, expect, test } from "vitest";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from "../../../gen/google/rpc/error_details_pb.ts";
import { errorCodes, errorKind } from "../../../src/errors/catalog.ts";
import { errorFromViolations, KibitzError, type Violation } from "../../../src/errors/errors.ts";
import { connectErrorFrom } from "../../../src/protocols/connect/errors.ts";
import { grpcMessage } from "../../../src/protocols/connect/grpc-message.ts";
import { statuses } from "../../contract/protocols/statuses.ts";

function encodedBytesOf(error: ConnectError): number {
  const trailer = new Headers();
  setTrailerStatus(trailer, error);
  return grpcMessage(error.rawMessage).length + (trailer.get("grpc-status-details-bin")?.length ?? 0);
}

const infoOf = (error: ConnectError) => error.findDetails(ErrorInfoSchema)[0];

describe("a KibitzError", () => {
  test.each(errorCodes)("the RPC error for %s has the documented code and an ErrorInfo", (code) => {
    const error = connectErrorFrom(new KibitzError(code, "what is wrong"), "id-1");
    expect(codeToString(error.code)).toBe(statuses[code]?.[1]);
    expect(error.rawMessage).toBe("what is wrong");
    expect(infoOf(error)).toMatchObject({ domain: "kibitz", reason: code.toUpperCase() });
    expect(infoOf(error)?.metadata).toMatchObject({ code, request_id: "id-1" });
  });

  test("an RPC error contains its problem document with a corrected request", () => {
    const error = connectErrorFrom(
      new KibitzError("invalid_fen", "short", { suggestedRequest: { fen: "long" } }),
      "id-1",
    );
    expect(infoOf(error)?.metadata.next_action).toBe("send_suggested_request");
    expect(error.findDetails(ProblemSchema)).toMatchObject([
      {
        type: "/problems/invalid-fen",
        status: 400,
        detail: "short",
        requestId: "id-1",
        nextAction: "send_suggested_request",
        suggestedRequest: { fen: "long" },
      },
    ]);
  });

  test("if an RPC error is too long to list its violations twice, only the detail BadRequest lists them", () => {
    const violations = Array.from({ length: 20 }, (_, index): Violation => {
      return { pointer: `/moves/${index}`, code: "illegal_move", message: "m".repeat(100) };
    });
    const error = connectErrorFrom(errorFromViolations(violations), "id-1");
    expect(error.findDetails(BadRequestSchema)[0]?.fieldViolations).toHaveLength(20);
    expect(error.findDetails(ProblemSchema)).toMatchObject([{ detail: error.rawMessage, errors: [] }]);
    expect(encodedBytesOf(error)).toBeLessThanOrEqual(6144);
  });

  test("if the corrected request does not fit into an RPC error, the error has the next action fix_request", () => {
    const suggestedRequest = { fen: "x", moves: Array(600).fill("e2e4") };
    const violation: Violation = { pointer: "/fen", code: "invalid_fen", message: "short" };
    const error = connectErrorFrom(errorFromViolations([violation], { suggestedRequest }), "id-1");
    expect(infoOf(error)?.metadata.next_action).toBe("fix_request");
    expect(error.findDetails(BadRequestSchema)).toHaveLength(1);
    expect(error.findDetails(ProblemSchema)).toMatchObject([
      { nextAction: "fix_request", errors: [{ pointer: "/fen" }] },
    ]);
    expect(error.findDetails(ProblemSchema)[0]?.suggestedRequest).toBeUndefined();
    expect(encodedBytesOf(error)).toBeLessThanOrEqual(6144);
  });

  test.each(["list_engines", "use_auto_path", "retry_later", "contact_operator"] as const)(
    "an RPC error can name the next action %s",
    (nextAction) => {
      const error = new KibitzError("internal", "bad", { nextAction });
      expect(infoOf(connectErrorFrom(error, "id-1"))?.metadata.next_action).toBe(nextAction);
    },
  );
});

test.each([3000, 100_000])(
  "if a corrected PGN of %i characters does not fit into an RPC error, the error still contains the position of the violation",
  (characters) => {
    const pgn = "e".repeat(characters);
    const violation: Violation = {
      pointer: "/pgn",
      code: "illegal_move",
      message: "'Ke3' is not legal.",
      allowed: { examples: [pgn] },
      place: { ply: 3, token: "Ke3", offset: characters, line: 2, column: 4 },
    };
    const error = connectErrorFrom(errorFromViolations([violation], { suggestedRequest: { pgn } }), "id-1");
    const [problem] = error.findDetails(ProblemSchema);
    expect(problem).toMatchObject({
      nextAction: "fix_request",
      errors: [{ ply: 3, token: "Ke3", offset: characters, line: 2, column: 4 }],
    });
    expect(problem?.suggestedRequest).toBeUndefined();
    expect(infoOf(error)?.metadata.next_action).toBe("fix_request");
    expect(encodedBytesOf(error)).toBeLessThanOrEqual(6144);
  },
);

describe("violations", () => {
  test.each([
    ["/fen", "fen"],
    ["/moves/3", "moves[3]"],
    ["/requests/0/moves/12", "requests[0].moves[12]"],
    ["/options/skill_level", "options.skill_level"],
    ["/options/a~1b~0c", "options.a/b~c"],
    ["", ""],
  ])("a violation at the JSON pointer %j becomes a field violation at %j", (pointer, field) => {
    const violation: Violation = { pointer, code: "out_of_range", message: "too much" };
    const error = connectErrorFrom(errorFromViolations([violation]), "id-1");
    expect(error.findDetails(BadRequestSchema)[0]?.fieldViolations).toMatchObject([
      { field, reason: "OUT_OF_RANGE", description: "too much" },
    ]);
  });

  test("an RPC error without space for all violations says in its message how many violations are missing", () => {
    const message = "\u{1f600}".repeat(32);
    const violations = Array.from({ length: 20 }, (_, index): Violation => {
      return {
        pointer: `/options/${index}${message}`,
        code: "option_not_allowed",
        message: message.repeat(4),
      };
    });
    const error = connectErrorFrom(errorFromViolations(violations, { retryAfterMs: 1000 }), "id-1");
    const reported = error.findDetails(BadRequestSchema)[0]?.fieldViolations.length ?? 0;
    expect(reported).toBeGreaterThan(0);
    expect(error.rawMessage).toMatch(new RegExp(` ${20 - reported} faults had no room in this error\\.$`));
    expect(error.details.map((detail) => "desc" in detail && detail.desc.name)).toEqual([
      "ErrorInfo",
      "RetryInfo",
      "BadRequest",
      "Problem",
    ]);
    expect(error.findDetails(ProblemSchema)).toMatchObject([{ detail: error.rawMessage, errors: [] }]);
    expect(encodedBytesOf(error)).toBeLessThanOrEqual(6144);
  });

  test("an RPC error without violations contains no BadRequest", () => {
    expect(
      connectErrorFrom(new KibitzError("internal", "bad"), "id-1").findDetails(BadRequestSchema),
    ).toEqual([]);
  });
});

describe("the time to retry", () => {
  test.each([
    [0, 0n, 0, "1"],
    [1, 0n, 1_000_000, "1"],
    [1500, 1n, 500_000_000, "2"],
    [60_000, 60n, 0, "60"],
  ])(
    "an RPC error that may be retried after %i ms has RetryInfo and Retry-After",
    (retryAfterMs, seconds, nanos, header) => {
      const error = connectErrorFrom(new KibitzError("overloaded", "busy", { retryAfterMs }), "id-1");
      expect(error.findDetails(RetryInfoSchema)[0]?.retryDelay).toMatchObject({ seconds, nanos });
      expect(error.metadata.get("retry-after")).toBe(header);
    },
  );

  test("an RPC error for an exceeded limit names the quota", () => {
    const error = connectErrorFrom(
      new KibitzError("rate_limited", "later", { retryAfterMs: 1000, quota: "keyless/burst" }),
      "id-1",
    );
    expect(error.findDetails(QuotaFailureSchema)).toMatchObject([
      { violations: [{ subject: "keyless/burst", description: error.rawMessage }] },
    ]);
  });

  test("an RPC error without a known time to retry has no RetryInfo", () => {
    const error = connectErrorFrom(new KibitzError("body_too_large", "big"), "id-1");
    expect(error.findDetails(RetryInfoSchema)).toEqual([]);
    expect(error.metadata.get("retry-after")).toBeNull();
  });
});

test.each(["x".repeat(9000), "é".repeat(9000), "\u{1f600}".repeat(9000), "%".repeat(9000)])(
  "an RPC error message that is too long for a header is shortened: case %#",
  (message) => {
    const error = connectErrorFrom(new KibitzError("rate_limited", message, { quota: "a/b" }), "id-1");
    expect(error.rawMessage).toMatch(/^.{50,1020}…$/u);
    expect(message.startsWith(error.rawMessage.slice(0, -1))).toBe(true);
    expect(encodedBytesOf(error)).toBeLessThanOrEqual(6144);
  },
);

test.each([
  ["invalid_api_key", 'Bearer error="invalid_token"'],
  ["api_key_required", "Bearer"],
] as const)("the RPC error %s says how to authenticate", (code, challenge) => {
  expect(connectErrorFrom(new KibitzError(code, "who?"), "id-1").metadata.get("www-authenticate")).toBe(
    challenge,
  );
});

describe("an exception that is not a KibitzError", () => {
  test("an unexpected exception becomes the RPC error internal, without the exception's text", () => {
    const mistake = new TypeError("password is 1234");
    const error = connectErrorFrom(mistake, "id-1");
    expect(error.code).toBe(Code.Internal);
    expect(error.rawMessage).not.toContain("1234");
    expect(error.cause).toBe(mistake);
    expect(infoOf(error)?.metadata).toMatchObject({
      code: "internal",
      next_action: errorKind("internal").nextAction,
    });
  });

  test("an error that the Connect library throws keeps its code", () => {
    const error = new ConnectError("protocol error", Code.InvalidArgument);
    expect(connectErrorFrom(error, "id-1")).toBe(error);
  });
});
