import { expect } from "vitest";
import type { Plain, Refusal, ReportedViolation } from "./protocol.ts";

export interface ErrorInfo {
  readonly reason: string;
  readonly domain: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Expects that the ErrorInfo of an error agrees with `problem`, the problem document in plain JSON. */
export function refusalFromDetails(
  message: string,
  info: ErrorInfo | undefined,
  violations: Refusal["violations"],
  problem: Plain | undefined,
): Refusal {
  expect(info, `the error "${message}" has an ErrorInfo`).toBeDefined();
  const { reason = "", domain = "", metadata = {} } = info ?? {};
  expect(domain).toBe("kibitz");
  expect(reason).toBe(metadata.code?.toUpperCase());
  expect(Object.keys(metadata).toSorted()).toEqual(["code", "next_action", "request_id"]);
  const { code = "", next_action: nextAction = "", request_id: requestId = "" } = metadata;
  expect(problem).toMatchObject({ code, detail: message, next_action: nextAction, request_id: requestId });
  const errors = problem?.errors as readonly ReportedViolation[];
  if (errors.length > 0) {
    // google.rpc.BadRequest has no fields for other members of a violation.
    expect(errors.map(({ pointer, code, message }) => ({ pointer, code, message }))).toEqual(violations);
  }
  return {
    code,
    message,
    nextAction,
    requestId,
    violations: errors.length > 0 ? errors : violations,
    suggestion: problem?.suggested_request ?? null,
  };
}

/** Converts `moves[3]` to `/moves/3`. */
export function pointerFromFieldPath(path: string): string {
  return `/${path.replace(/\[(\d+)\]/g, "/$1").replace(/^(options)\./, "$1/")}`;
}
