import { expect } from "vitest";
import { expectDescribed } from "../../../openapi/described.ts";
import { plainFromProtoJson } from "../proto-json.ts";
import type { Call, Plain, ProtocolKind, Refusal, ReportedViolation } from "../protocol.ts";

const routes: Readonly<Record<Call, readonly [verb: string, path: string]>> = {
  evaluate: ["POST", "/v1/eval"],
  findBestMove: ["POST", "/v1/bestmove"],
  streamEvaluate: ["POST", "/v1/eval/stream"],
  evaluateBatch: ["POST", "/v1/eval/batch"],
  reviewGame: ["POST", "/v1/review"],
  listEngines: ["GET", "/v1/engines"],
  getPrice: ["GET", "/v1/price"],
  probeTablebase: ["GET", "/v1/tablebase"],
  createKey: ["POST", "/v1/keys"],
  getKey: ["GET", "/v1/keys/self"],
  revokeKey: ["DELETE", "/v1/keys/self"],
};

export const json: ProtocolKind = {
  name: "/v1",
  open: (url) => ({
    async call(call, request, headers) {
      const [verb, path] = routes[call];
      const response = await (verb === "POST"
        ? fetch(url + path, {
            method: verb,
            headers: { "Content-Type": "application/json", ...headers },
            body: JSON.stringify(request),
          })
        : fetch(`${url}${path}?${queryOf(request)}`, { method: verb, headers: { ...headers } }));
      const requestId = response.headers.get("x-request-id") ?? undefined;
      const body = (await response.json()) as Plain;
      expectDescribed(verb, url + path, response, body);
      if (response.ok) {
        const answer = plainFromProtoJson(body);
        // Like the other protocols, return the last message of the stream.
        return { kind: "answer", requestId, answer: call === "reviewGame" ? { review: answer } : answer };
      }
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(body.status).toBe(response.status);
      return { kind: "refusal", requestId, status: response.status, refusal: refusalFromProblem(body) };
    },
    async [Symbol.asyncDispose]() {},
  }),
};

function queryOf(request: Plain): string {
  return new URLSearchParams(
    Object.entries(request).map(([name, value]) => [name, String(value)]),
  ).toString();
}

export function refusalFromProblem(problem: Plain): Refusal {
  const errors = problem.errors as readonly ReportedViolation[];
  return {
    code: String(problem.code),
    message: String(problem.detail),
    nextAction: String(problem.next_action),
    requestId: String(problem.request_id),
    suggestion: problem.suggested_request,
    violations: errors.map(withoutNull),
  };
}

function withoutNull(violation: ReportedViolation): ReportedViolation {
  const { pointer, code, message, ...others } = violation;
  const present = Object.entries(others).filter(([, value]) => value !== null);
  return { pointer, code, message, ...Object.fromEntries(present) };
}
