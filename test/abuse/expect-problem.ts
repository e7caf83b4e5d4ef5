import { expect } from "vitest";
import { statuses } from "../contract/protocols/statuses.ts";
import type { Answer } from "./ask.ts";

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
  "send_to_eval",
];

const echoMax = 64;

/**
 * Fails unless the response is a problem document with a next action. The problem document must not contain control characters,
 * and must not repeat more than a short part of the request.
 * @param sent the parts of the request that the response might repeat
 */
export function expectProblem(
  answer: Answer,
  wanted: { readonly status: number | readonly number[]; readonly code?: string | readonly string[] },
  sent = "",
): Problem {
  const excerpt = `${answer.status} ${answer.body.slice(0, 300)}`;
  expect([wanted.status].flat(), excerpt).toContain(answer.status);
  expect(answer.headers["content-type"], excerpt).toBe("application/problem+json");
  const problem = JSON.parse(answer.body);
  expect(Object.keys(problem), excerpt).toEqual(members);
  expect(problem.status).toBe(answer.status);
  expect(statuses[problem.code]?.[0], excerpt).toBe(answer.status);
  if (wanted.code !== undefined) {
    expect([wanted.code].flat(), excerpt).toContain(problem.code);
  }
  expect(problem.type).toBe(`/problems/${problem.code.replaceAll("_", "-")}`);
  expect(nextActions, excerpt).toContain(problem.next_action);
  expect(answer.headers["x-request-id"], excerpt).toBe(problem.request_id);
  if (answer.status === 429 || answer.status === 503) {
    expect(Number(answer.headers["retry-after"]), excerpt).toBeGreaterThanOrEqual(1);
    expect(problem.next_action).toBe("retry_later");
  }
  if (answer.status === 401) {
    expect(answer.headers["www-authenticate"], excerpt).toMatch(/^Bearer/);
  }
  if (answer.status === 405) {
    expect(answer.headers.allow, excerpt).toMatch(/^[A-Z]+(, [A-Z]+)*$/);
  }
  expectPlainText(answer, problem);
  // The quotation marks in a message are not from the request.
  const said = JSON.stringify({ ...problem, suggested_request: null }).replaceAll('\\"', "”");
  expect(longestEcho(said, sent), excerpt).toBe("");
  return problem;
}

function expectPlainText({ body }: Answer, problem: Problem): void {
  expect(body.trimEnd()).not.toMatch(control);
  for (const text of [problem.detail, ...problem.errors.map(({ message }) => message)]) {
    expect(text).not.toMatch(control);
  }
}

/** Control characters, and two Unicode separators that some programs treat as a line break. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const control = /[\x00-\x1f\x7f-\x9f\u2028\u2029]/;

/** Returns the first part of the request that appears in the response and is longer than {@link echoMax}. */
function longestEcho(text: string, sent: string): string {
  for (let at = 0; sent.length > echoMax && at + echoMax < text.length; at++) {
    const piece = text.slice(at, at + echoMax + 1);
    if (sent.includes(piece)) {
      return piece;
    }
  }
  return "";
}
