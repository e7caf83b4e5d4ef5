import { describe, expect, it } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../../gen/chess/analysis/v1/key_service_pb.ts";
import { kindOfRoute, routesFromServices, streamOfRoute } from "../../../src/protocols/json/routes.ts";
import { serviceWith } from "../../calls/plain/made-up-proto.ts";

describe("routesFromServices", () => {
  it("the JSON routes are exactly the routes that the proto files annotate, including additional bindings", () => {
    const routes = routesFromServices([AnalysisService, KeyService]);
    const lines = routes.map(
      ({ verb, path, method, body }) => `${verb} ${path} ${method.name}${body ? " *" : ""}`,
    );
    expect(lines).toEqual([
      "POST /v1/eval Evaluate *",
      "POST /v1/bestmove FindBestMove *",
      "POST /v1/eval/stream StreamEvaluate *",
      "POST /v1/eval/batch EvaluateBatch *",
      "GET /engines ListEngines",
      "GET /v1/engines ListEngines",
      "GET /price GetPrice",
      "GET /v1/price GetPrice",
      "GET /v1/tablebase ProbeTablebase",
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

  it("the API has one event stream, for Evaluate, and one batch call", () => {
    const routes = routesFromServices([AnalysisService]);
    const kinds = routes.map((route) => [route.method.name, kindOfRoute(route)]);
    expect(kinds.filter(([, kind]) => kind !== "unary")).toEqual([
      ["StreamEvaluate", "stream"],
      ["EvaluateBatch", "batch"],
    ]);
    const streamed = routes.filter((route) => streamOfRoute(route, routes));
    expect(streamed.map(({ method }) => method.name)).toEqual(["Evaluate"]);
  });
});
