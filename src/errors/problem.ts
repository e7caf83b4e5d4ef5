import { uuidv7 } from "../text/uuidv7.ts";
import { errorKind } from "./catalog.ts";
import type { KibitzError, Violation } from "./errors.ts";

/** An error in the format of RFC 9457. A field without a value is `null`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly instance: string;
  readonly request_id: string;
  readonly next_action: string;
  readonly retryable: boolean;
  readonly retry_after_ms: number | null;
  readonly errors: readonly ProblemViolation[];
  readonly suggested_request: Readonly<Record<string, unknown>> | null;
  readonly upgrade: { readonly plan: string; readonly url: string } | null;
}

interface ProblemViolation extends Pick<Violation, "pointer" | "code" | "message"> {
  readonly allowed: Violation["allowed"] | null;
  /** Null if the violation is not in a game. */
  readonly ply: number | null;
  readonly token: string | null;
  readonly offset: number | null;
  readonly line: number | null;
  readonly column: number | null;
}

export const problemMediaType = "application/problem+json";

export function problemTypeOf(code: string): string {
  return `/problems/${code.replaceAll("_", "-")}`;
}

export function problemFromError(error: KibitzError, requestId: string): Problem {
  const { status, title } = errorKind(error.code);
  return {
    type: problemTypeOf(error.code),
    title,
    status,
    code: error.code,
    detail: error.message,
    instance: `urn:uuid:${uuidv7()}`,
    request_id: requestId,
    next_action: error.nextAction,
    retryable: error.retryable,
    retry_after_ms: error.retryAfterMs ?? null,
    errors: error.violations.map(problemViolation),
    suggested_request: error.suggestedRequest ?? null,
    upgrade: error.upgrade ?? null,
  };
}

function problemViolation({ pointer, code, message, allowed, place }: Violation): ProblemViolation {
  return {
    pointer,
    code,
    message,
    allowed: allowed ?? null,
    ply: place?.ply ?? null,
    token: place?.token ?? null,
    offset: place?.offset ?? null,
    line: place?.line ?? null,
    column: place?.column ?? null,
  };
}

export function headersFromError(error: KibitzError): readonly (readonly [string, string])[] {
  const headers: (readonly [string, string])[] = [];
  if (error.retryAfterMs !== undefined) {
    headers.push(["Retry-After", String(Math.max(1, Math.ceil(error.retryAfterMs / 1000)))]);
  }
  if (errorKind(error.code).status === 401) {
    headers.push([
      "WWW-Authenticate",
      error.code === "invalid_api_key" ? 'Bearer error="invalid_token"' : "Bearer",
    ]);
  }
  return headers;
}
