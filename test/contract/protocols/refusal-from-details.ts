import { expect } from "vitest";
import type { Plain, Refusal, ToldViolation } from "./protocol.ts";

/** The fields of google.rpc.ErrorInfo. */
export interface ErrorInfo {
  readonly reason: string;
  readonly domain: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Converts the typed details of an RPC error. Every error has an ErrorInfo and a Problem, and the function checks that they
 * agree.
 * @param problem the problem document of the details, as plain JSON
 */
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
  const errors = problem?.errors as readonly ToldViolation[];
  if (errors.length > 0) {
    // google.rpc.BadRequest has no room for more.
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

/** Converts a field path of google.rpc.BadRequest, such as `moves[3]`, to a JSON Pointer: `/moves/3`. */
export function pointerFromFieldPath(path: string): string {
  return `/${path.replace(/\[(\d+)\]/g, "/$1").replace(/^(options)\./, "$1/")}`;
}
