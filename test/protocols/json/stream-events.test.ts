import type { DescService } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { batchFramers } from "../../../src/protocols/json/framers.ts";
import {
  eventsOf,
  kindOfRoute,
  routesFromServices,
  streamOfRoute,
} from "../../../src/protocols/json/routes.ts";
import { compileProto } from "../../openapi/compile-proto.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

const declared: string[] = [];
let compiled: readonly DescService[] | undefined;

/**
 * The routes of a service whose one stream answers with a message that has these members. Asked for while tests are
 * collected, and had while they run: all are compiled together.
 */
function routesWith(members: string, option = "") {
  const number = declared.length + 1;
  declared.push(`
message Event${number} { ${members} }
service Things${number} {
  rpc TellOnce(Ask) returns (Told) { option (google.api.http) = {post: "/v1/things" body: "*"}; }
  rpc Tell(Ask) returns (stream Event${number}) {
    option (google.api.http) = {post: "/v1/things/stream" body: "*"};
    ${option}
  }
}`);
  return () => {
    compiled ??= compileProto(folder, [head, ...declared].join("\n"));
    const routes = routesFromServices(compiled.filter(({ name }) => name === `Things${number}`));
    const [once, stream] = routes;
    if (once === undefined || stream === undefined) {
      throw new Error("two routes");
    }
    return { routes, once, stream };
  };
}

const head = `syntax = "proto3";
package made.v1;
import "google/api/annotations.proto";
import "kibitz/json/v1/options.proto";
message Ask {}
message Told { uint32 index = 1; }
message Other {}`;

const batchOption = "option (kibitz.json.v1.batch) = true;";
const numberedBatch = routesWith("uint32 number = 1;", batchOption);
const events = "oneof event { Other waits = 1; Told told = 2 [(kibitz.json.v1.answer) = true]; }";

describe("a stream", () => {
  const plain = routesWith(events);
  const indexed = routesWith(`${events} uint32 index = 3;`);
  it("a stream has events, also if its messages have an index", () => {
    expect(kindOfRoute(plain().stream)).toBe("stream");
    expect(kindOfRoute(indexed().stream)).toBe("stream");
  });

  const indexedBatch = routesWith("uint32 index = 1;", batchOption);
  it("a stream is a batch if its proto says so, whatever its messages have", () => {
    expect(kindOfRoute(indexedBatch().stream)).toBe("batch");
    expect(kindOfRoute(numberedBatch().stream)).toBe("batch");
  });

  const ofOther = routesWith(
    "oneof event { Told told = 1; Other other = 2 [(kibitz.json.v1.answer) = true]; }",
  );
  it("a stream belongs to the only call with the same answer", () => {
    const { routes, once, stream } = plain();
    expect(streamOfRoute(once, routes)).toBe(stream);
    const other = ofOther();
    expect(streamOfRoute(other.once, other.routes)).toBeUndefined();
  });

  const refused = [
    ["has no choice", "Told told = 1;"],
    ["has a field beside the choice", `${events} uint32 index = 3;`],
    ["has two choices", `${events} oneof more { Other other = 3; }`],
    [
      "chooses from a number",
      "oneof event { uint32 place = 1; Told told = 2 [(kibitz.json.v1.answer) = true]; }",
    ],
    ["marks no answer", "oneof event { Other waits = 1; Told told = 2; }"],
    [
      "marks two",
      "oneof event { Other waits = 1 [(kibitz.json.v1.answer) = true]; Told told = 2 [(kibitz.json.v1.answer) = true]; }",
    ],
    ["takes the name of the end", "oneof event { Told done = 1 [(kibitz.json.v1.answer) = true]; }"],
    [
      "takes the name of a failure",
      "oneof event { Other error = 1; Told told = 2 [(kibitz.json.v1.answer) = true]; }",
    ],
  ].map(([name, members = ""]) => [name, routesWith(members)] as const);
  it.each(refused)("a stream is refused at start if its message %s, and named", (_, routesOf) => {
    const { method } = routesOf().stream;
    expect(() => eventsOf(method)).toThrow(
      /^rpc made\.v1\.Things\d+\.Tell: message made\.v1\.Event\d+ must be/,
    );
  });
});

it("a batch is refused at start if its answers have no index", () => {
  const { method } = numberedBatch().stream;
  expect(() => batchFramers(method)).toThrow("has an index");
});

describe("the API", () => {
  it("the API has one stream of events, which is that of Evaluate, and one batch", () => {
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
