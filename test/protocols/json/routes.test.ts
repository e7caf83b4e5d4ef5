import { describe, expect, it } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { routesFromServices } from "../../../src/protocols/json/routes.ts";
import { serviceWith } from "../../calls/plain/made-up-proto.ts";

describe("routesFromServices", () => {
  it("the routes are all that the protos annotate, additional bindings included", () => {
    const routes = routesFromServices([AnalysisService, KeyService]);
    const lines = routes.map(
      ({ verb, path, method, body }) => `${verb} ${path} ${method.name}${body ? " *" : ""}`,
    );
    expect(lines).toEqual([
      "POST /v1/eval Evaluate *",
      "POST /v1/bestmove FindBestMove *",
      "POST /v1/eval/stream StreamEvaluate *",
      "POST /v1/eval/batch EvaluateBatch *",
      "GET /v1/engines ListEngines",
      "GET /engines ListEngines",
      "GET /v1/price GetPrice",
      "GET /price GetPrice",
      "POST /v1/keys CreateKey *",
      "GET /v1/keys/self GetKey",
      "DELETE /v1/keys/self RevokeKey",
    ]);
  });

  it("a path may have several methods", () => {
    const service = serviceWith(
      { pattern: { case: "put", value: "/x" }, body: "*" },
      { pattern: { case: "patch", value: "/x" }, body: "*" },
    );
    expect(routesFromServices([service]).map(({ verb }) => verb)).toEqual(["PUT", "PATCH"]);
  });

  it.each([
    ["a path variable", { pattern: { case: "get", value: "/v1/keys/{id}" } }, /fixed path/],
    ["a wildcard", { pattern: { case: "get", value: "/v1/*" } }, /fixed path/],
    ["a path without its slash", { pattern: { case: "get", value: "v1" } }, /fixed path/],
    ["no pattern", {}, /needs get, put/],
    ["a verb of its own", { pattern: { case: "custom", value: { kind: "HEAD", path: "/x" } } }, /needs get/],
    ["a field as body", { pattern: { case: "post", value: "/x" }, body: "key" }, /"key"/],
  ] as const)("the routes refuse %s at start, with the name of the method", (_, rule, message) => {
    const start = () => routesFromServices([serviceWith(rule)]);
    expect(start).toThrow(message);
    expect(start).toThrow("test.v1.Things.Call0");
  });

  it("the routes refuse one path for two methods, with both names", () => {
    const rule = { pattern: { case: "get", value: "/x" } } as const;
    const start = () => routesFromServices([serviceWith(rule, rule)]);
    expect(start).toThrow("test.v1.Things.Call1: GET /x already belongs to");
    expect(start).toThrow("test.v1.Things.Call0");
  });
});
