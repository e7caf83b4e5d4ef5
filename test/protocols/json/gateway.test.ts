import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { AnalysisRequest } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  EvaluateResponseSchema,
  GetPriceResponseSchema,
  ListEnginesResponseSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import {
  CreateKeyResponseSchema,
  RevokeKeyResponseSchema,
} from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import type { UnaryHandler } from "../../../src/calls/create-calls.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { startListener } from "../../http/start-listener.ts";
import { madeUpGateway, type ServedGateway, serveGateway, startFen } from "./serve-gateway.ts";

const evaluate = vi.fn<UnaryHandler>();
const getPrice = vi.fn<UnaryHandler>(async () => create(GetPriceResponseSchema, { operation: "eval" }));

let served: ServedGateway;
beforeAll(async () => {
  served = await serveGateway({
    Evaluate: evaluate,
    GetPrice: getPrice,
    ListEngines: async () => create(ListEnginesResponseSchema, { latest: "stockfish-19" }),
    CreateKey: async (_, { outcome }) => {
      outcome?.answerHeaders.set("ratelimit", '"minute";r=59;t=60');
      return create(CreateKeyResponseSchema, { id: "k1" });
    },
    RevokeKey: async () => create(RevokeKeyResponseSchema),
  });
  evaluate.mockImplementation(async (request) =>
    create(EvaluateResponseSchema, {
      id: "a1",
      fen: (request as AnalysisRequest).fen,
      summary: "½ — équilibré ♞",
    }),
  );
});
afterAll(() => served[Symbol.asyncDispose]());

const get = (path: string, init?: RequestInit) => fetch(`${served.url}${path}`, init);

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${served.url}${path}`, {
    method: "POST",
    body,
    headers: { "Content-Type": "application/json", ...headers },
  });

async function problemOf(response: Response) {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = (await response.json()) as Record<string, unknown>;
  expect(problem).toMatchObject({
    status: response.status,
    request_id: response.headers.get("x-request-id"),
  });
  return problem as { readonly detail: string; readonly errors: readonly { readonly pointer: string }[] };
}

describe("an answer", () => {
  it("a JSON response is one line, has the headers Content-Length and X-Request-Id, and must not be cached", async () => {
    const response = await post("/v1/eval", JSON.stringify({ fen: startFen }), { "X-Request-Id": "mine-1" });
    const body = Buffer.from(await response.arrayBuffer());
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-length": String(body.length),
      "cache-control": "no-store",
      "x-request-id": "mine-1",
    });
    expect(body.toString().indexOf("\n")).toBe(body.toString().length - 1);
    expect(JSON.parse(body.toString())).toMatchObject({ id: "a1", fen: startFen, best_move: null });
  });
});

describe("places", () => {
  it.each(["/v1/eval/", "/engines/", "/mcp/"])(
    "the error for the path %s names the path without the extra slash",
    async (path) => {
      expect(await problemOf(await get(path))).toMatchObject({
        code: "not_found",
        detail: `There is nothing at ${path}. Leave out the slash at the end: ${path.slice(0, -1)}.`,
      });
    },
  );

  it("a GET request to a stream path gets an error, which explains that EventSource cannot send a POST request", async () => {
    expect(await problemOf(await get("/v1/eval/stream"))).toMatchObject({
      code: "method_not_allowed",
      detail: `This path supports POST, OPTIONS. EventSource cannot POST: read the events with fetch(). Send the request as JSON: curl ${served.url}/v1/eval/stream -H 'Content-Type: application/json' -d '{"fen":"startpos"}'`,
    });
  });

  it.each([
    ["PUT", "/v1/eval", "POST, OPTIONS"],
    ["HEAD", "/v1/eval", "POST, OPTIONS"],
    ["POST", "/engines", "GET, HEAD, OPTIONS"],
    ["PUT", "/v1/keys/self?x=1", "GET, HEAD, DELETE, OPTIONS"],
  ])(
    "a request with a wrong method gets an error with the allowed methods: %s %s",
    async (method, path, allow) => {
      const response = await get(path, { method });
      expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
      if (method !== "HEAD") {
        expect(await problemOf(response)).toMatchObject({
          code: "method_not_allowed",
          detail: `This path supports ${allow}.`,
        });
      }
    },
  );

  it("a response to OPTIONS lists exactly the methods that the path supports", async () => {
    const response = await get("/v1/eval", { method: "OPTIONS" });
    expect([response.status, response.headers.get("allow"), await response.text()]).toEqual([
      204,
      "POST, OPTIONS",
      "",
    ]);
  });
});

describe("the Accept header", () => {
  it.each(["text/html", "text/event-stream", "application/json;q=0"])(
    "a request is refused if its Accept header excludes JSON: %s",
    async (accept) => {
      expect(await problemOf(await get("/engines", { headers: { accept } }))).toMatchObject({
        status: 406,
        code: "not_acceptable",
      });
    },
  );

  it("a request is accepted if its Accept header is a list that contains JSON", async () => {
    const accept = "text/html, application/json;q=0.1";
    expect((await get("/engines", { headers: { accept } })).status).toBe(200);
  });
});

describe("violations", () => {
  it("an empty body is refused with an example of a body", async () => {
    expect(await problemOf(await post("/v1/eval", ""))).toMatchObject({
      code: "malformed_json",
      detail: 'The body is empty: send a JSON object such as {"fen":"startpos"}.',
    });
    expect(await problemOf(await post("/v1/keys", ""))).toMatchObject({
      detail: "The body is empty: send a JSON object such as {}.",
    });
  });

  it.each([
    ["/v1/eval", '["startpos"]', 'a JSON object such as {"fen":"startpos"}, not an array'],
    ["/v1/eval/stream", "[]", 'a JSON object such as {"fen":"startpos"}, not an array'],
    [
      "/v1/eval/batch",
      '[{"fen":"startpos"}]',
      'a JSON object such as {"requests":[{"fen":"startpos"}]}, not an array',
    ],
    ["/v1/keys", "null", "a JSON object such as {}, not null"],
  ])("a body to %s that is not a JSON object is refused with an example: %s", async (path, body, wanted) => {
    expect(await problemOf(await post(path, body))).toMatchObject({
      code: "invalid_type",
      detail: `The body must be ${wanted}.`,
      errors: [{ pointer: "" }],
    });
  });

  it("a violation is reported only once for each field", async () => {
    const problem = await problemOf(await post("/v1/eval", '{"fen":null,"moves":[5,""]}'));
    expect(problem.errors).toHaveLength(3);
    expect(problem).toMatchObject({
      errors: [
        { pointer: "/fen", code: "invalid_type" },
        { pointer: "/moves/0", code: "invalid_type" },
        { pointer: "/moves/1", code: "illegal_move" },
      ],
    });
  });

  it("an invalid request is counted only once, although the gateway also validates the corrected request", async () => {
    const { entered, refused } = served.entries;
    const problem = await problemOf(
      await post("/v1/eval", JSON.stringify({ fen: startFen, depth: "99", multipv: 2 })),
    );
    expect(problem).toMatchObject({ suggested_request: { depth: 30 } });
    expect(served.entries).toEqual({ entered: entered + 1, refused: refused + 1 });
  });
});

describe("errors of a call", () => {
  it("an error that a handler throws becomes a problem document with the headers that interceptors added", async () => {
    evaluate.mockImplementationOnce(async (_, { outcome }) => {
      outcome?.answerHeaders.set("ratelimit", '"minute";r=0;t=7');
      throw new KibitzError("rate_limited", "Too many.", { retryAfterMs: 6500 });
    });
    const response = await post("/v1/eval", JSON.stringify({ fen: startFen }));
    expect([response.headers.get("ratelimit"), response.headers.get("retry-after")]).toEqual([
      '"minute";r=0;t=7',
      "7",
    ]);
    expect(await problemOf(response)).toMatchObject({
      status: 429,
      code: "rate_limited",
      detail: "Too many.",
    });
  });

  it("an unexpected exception in a handler is not shown to the client", async () => {
    evaluate.mockRejectedValueOnce(new TypeError("secret is not a function"));
    const response = await post("/v1/eval", JSON.stringify({ fen: startFen }));
    const text = await response.clone().text();
    expect(await problemOf(response)).toMatchObject({ status: 500, code: "internal" });
    expect(text).not.toContain("secret");
  });

  it("an error that a handler throws synchronously becomes a problem document", async () => {
    evaluate.mockImplementationOnce(() => {
      throw new KibitzError("starting", "Soon.", { retryAfterMs: 1000 });
    });
    expect((await post("/v1/eval", JSON.stringify({ fen: startFen }))).status).toBe(503);
  });
});

it("the gateway responds even if counting a refusal fails", async () => {
  const refused = () => Promise.reject(new Error("nobody expects this"));
  const { base, errors } = await startListener([madeUpGateway({ refused })]);
  const response = await fetch(`${base}/v1/eval`, { method: "POST", body: "{" });
  expect(response.status).toBe(500);
  expect(errors).toMatchObject([{ err: { message: "nobody expects this" } }]);
});
