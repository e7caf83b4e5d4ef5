import { describe, expect, test } from "vitest";
import { contextOf, identifyRequest, outcomeOf, spanBelow } from "../../src/request/context.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";

test.each([
  [`00-${trace}-${parent}-01`, "01"],
  [`00-${trace}-${parent}-00`, "00"],
  [`00-${trace}-${parent}-ff`, "01"],
  [`00-${trace}-${parent}-fe`, "00"],
  [`cc-${trace}-${parent}-01`, "01"],
  [`cc-${trace}-${parent}-01-what-comes-later`, "01"],
])("a request with the traceparent %s gets a new span in the same trace", (header, flags) => {
  expect(spanBelow(header)).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-${flags}$`));
  expect(spanBelow(header)).not.toBe(spanBelow(header));
});

test.each([
  "",
  trace,
  `00-${trace}-${parent}`,
  `00-${trace}-${parent}-01-more`,
  `00-${trace}-${parent}-01 `,
  `ff-${trace}-${parent}-01`,
  `00-${trace.toUpperCase()}-${parent}-01`,
  `00-${"0".repeat(32)}-${parent}-01`,
  `00-${trace}-${"0".repeat(16)}-01`,
  `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
  `cc-${trace}-${parent}-01.`,
])("the invalid traceparent %j is ignored", (header) => {
  expect(spanBelow(header)).toBeUndefined();
});

describe("a request that passed through the HTTP server", () => {
  const raw = (headers = {}) => ({ url: "/v1/eval?x=1", headers, socket: { remoteAddress: "192.0.2.1" } });
  const noRpc = () => false;

  test("the context of a request stays the same if its headers change later", () => {
    const request = raw({ "x-request-id": "id-1", authorization: "Bearer x" });
    const context = identifyRequest(request, noRpc);
    request.headers = {};
    expect(contextOf(request)).toBe(context);
    expect(context).toEqual({
      id: "id-1",
      traceparent: undefined,
      protocol: "json",
      path: "/v1/eval",
      address: "192.0.2.1",
      forwardedFor: undefined,
      authorization: "Bearer x",
      hasXApiKey: false,
    });
  });

  test.each(["mine", "a-b_c.d:e", "x".repeat(64)])("the caller's request id %s is used", (id) => {
    expect(identifyRequest(raw({ "x-request-id": id }), noRpc).id).toBe(id);
  });

  test.each(["two words", "x".repeat(65), '<script>"', "é"])(
    "the invalid request id %s is replaced by a new id",
    (id) => {
      expect(identifyRequest(raw({ "x-request-id": id }), noRpc).id).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  const rpcPath = "/chess.analysis.v1.AnalysisService/Evaluate";
  test.each([
    ["POST", "/v1/eval", "application/json", "json"],
    ["POST", "/v1/eval", undefined, "json"],
    ["GET", "/price", "application/grpc", "json"],
    ["POST", "/nothing", "text/plain", "json"],
    ["POST", "/nothing", "application/grpc+proto", "grpc"],
    ["POST", "/nothing", "application/grpc-web-text; charset=utf-8", "grpc-web"],
    ["POST", "/nothing", "application/connect+json", "connect"],
    ["POST", rpcPath, "application/grpc", "grpc"],
    ["POST", rpcPath, "application/grpc-web+proto", "grpc-web"],
    ["POST", rpcPath, "application/json", "connect"],
    ["GET", `${rpcPath}?encoding=json`, undefined, "connect"],
  ])(
    "the protocol of the request %s %s with the Content-Type %s is detected",
    (method, url, type, protocol) => {
      const headers = type === undefined ? {} : { "content-type": type };
      const request = { ...raw(headers), method, url };
      expect(identifyRequest(request, (path) => path === rpcPath).protocol).toBe(protocol);
    },
  );

  test("recording the outcome of a request does not change the recorded outcome of another request", () => {
    const [request, other] = [raw({ "x-request-id": "id-1" }), raw({ "x-request-id": "id-2" })];
    identifyRequest(request, noRpc);
    identifyRequest(other, noRpc);
    outcomeOf(request).code = "overloaded";
    outcomeOf(request).answerHeaders.set("etag", "x");
    expect(outcomeOf(request)).toMatchObject({ code: "overloaded", hasLine: false, readBytes: 0 });
    expect([...outcomeOf(request).answerHeaders]).toEqual([
      ["x-request-id", "id-1"],
      ["etag", "x"],
    ]);
    expect(outcomeOf(other)).toMatchObject({ code: undefined });
    expect([...outcomeOf(other).answerHeaders]).toEqual([["x-request-id", "id-2"]]);
  });

  test("reading the context fails for a request that did not pass through the HTTP server", () => {
    expect(() => contextOf(raw())).toThrow(TypeError);
    expect(() => outcomeOf(raw())).toThrow(TypeError);
  });
});
