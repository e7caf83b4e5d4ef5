import { expect } from "vitest";
import { statuses } from "../contract/protocols/statuses.ts";
import type { Answer } from "./ask.ts";

/** The fields of a problem document that the abuse tests check. */
export interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly next_action: string;
  readonly retry_after_ms: number | null;
  readonly errors: readonly { readonly pointer: string; readonly code: string; readonly message: string }[];
}

const members = [
  "type",
  "title",
  "status",
  "code",
  "detail",
  "instance",
  "request_id",
  "next_action",
  "retryable",
  "retry_after_ms",
  "errors",
  "suggested_request",
  "upgrade",
];

const nextActions = [
  "fix_request",
  "send_suggested_request",
  "list_engines",
  "use_auto_path",
  "get_api_key",
  "check_api_key",
  "reduce_limits",
  "retry_now",
  "retry_later",
  "contact_operator",
];

/** The greatest length of a caller's text that an answer may repeat. */
const echoMax = 64;

/**
 * Expects an error in the form that every error has: a problem document with the next action, without control characters, and
 * with at most a short excerpt of the request.
 * @param sent the parts of the request that the answer could repeat
 */
export function expectProblem(
  answer: Answer,
  wanted: { readonly status: number | readonly number[]; readonly code?: string | readonly string[] },
  sent = "",
): Problem {
  const told = `${answer.status} ${answer.body.slice(0, 300)}`;
  expect([wanted.status].flat(), told).toContain(answer.status);
  expect(answer.headers["content-type"], told).toBe("application/problem+json");
  const problem = JSON.parse(answer.body);
  expect(Object.keys(problem), told).toEqual(members);
  expect(problem.status).toBe(answer.status);
  expect(statuses[problem.code]?.[0], told).toBe(answer.status);
  if (wanted.code !== undefined) {
    expect([wanted.code].flat(), told).toContain(problem.code);
  }
  expect(problem.type).toBe(`/problems/${problem.code.replaceAll("_", "-")}`);
  expect(nextActions, told).toContain(problem.next_action);
  expect(answer.headers["x-request-id"], told).toBe(problem.request_id);
  if (answer.status === 429 || answer.status === 503) {
    expect(Number(answer.headers["retry-after"]), told).toBeGreaterThanOrEqual(1);
    expect(problem.next_action).toBe("retry_later");
  }
  if (answer.status === 401) {
    expect(answer.headers["www-authenticate"], told).toMatch(/^Bearer/);
  }
  if (answer.status === 405) {
    expect(answer.headers.allow, told).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  }
  expectPlainText(answer, problem);
  expect(longestEcho(JSON.stringify({ ...problem, suggested_request: null }), sent), told).toBe("");
  return problem;
}

/** Expects no characters that a terminal or a log viewer would obey, neither as bytes nor in the texts for people. */
function expectPlainText({ body }: Answer, problem: Problem): void {
  expect(body.trimEnd()).not.toMatch(control);
  for (const text of [problem.detail, ...problem.errors.map(({ message }) => message)]) {
    expect(text).not.toMatch(control);
  }
}

/**
 * Control characters: C0, DEL and C1 (U+009B alone begins an escape sequence), and the separators that some programs take for the
 * end of a line.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;

/** Returns the first piece of the request in an answer that is longer than an answer may repeat. */
function longestEcho(text: string, sent: string): string {
  for (let at = 0; sent.length > echoMax && at + echoMax < text.length; at++) {
    const piece = text.slice(at, at + echoMax + 1);
    if (sent.includes(piece)) {
      return piece;
    }
  }
  return "";
}
