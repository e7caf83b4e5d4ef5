import { describe, expect, test } from "vitest";
import { documentOf } from "../../../tools/openapi/document.ts";
import { compileProto } from "../../openapi/compile-proto.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

/** A test proto with features that the project's proto does not use. */

const head = `syntax = "proto3";
package made.v1;
import "buf/validate/validate.proto";
import "google/api/annotations.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "kibitz/json/v1/options.proto";
// What went wrong.
message Problem {
  // Code.
  string code = 1;
  // What to do.
  string next_action = 2;
}
`;

const things = `${head}
// Keep things.
service ThingService {
  // Put a thing somewhere.
  //
  // It stays
  // there.
  rpc PutThing(PutThingRequest) returns (Thing) {
    option (google.api.http) = {post: "/v1/things" body: "*" additional_bindings: {post: "/things" body: "*"}};
  }
  // Watch it.
  rpc WatchThing(PutThingRequest) returns (stream WatchThingResponse) {
    option (google.api.http) = {post: "/v1/things/stream" body: "*"};
  }
  // Find one.
  rpc FindThing(FindThingRequest) returns (Thing) {
    option (google.api.http) = {get: "/v1/things"};
  }
  // Not by plain JSON.
  rpc HideThing(FindThingRequest) returns (Thing);
}
// A thing to put.
message PutThingRequest {
  // Its name.
  string name = 1 [(buf.validate.field).required = true];
  // How large. The default is 7.
  optional sint32 size = 2 [(buf.validate.field).sint32 = {gt: -5, lt: 8}];
  // Of what kind. The default is \`round\`.
  Kind kind = 3;
  // Where to.
  oneof place {
    // A shelf.
    string shelf = 4;
    // A drawer.
    uint32 drawer = 5;
  }
  // Tags.
  repeated string tags = 6 [(buf.validate.field).repeated = {min_items: 1, items: {string: {pattern: "^a"}}}];
  // Anything else.
  google.protobuf.Struct more = 7;
  // Always there in proto3.
  bool fragile = 8;
}
// To find a thing.
message FindThingRequest {
  // Its number.
  optional uint64 number = 1 [(buf.validate.field).uint64.lte = 9];
}
// What happens to a thing.
message WatchThingResponse {
  // What it is.
  oneof change {
    // It is as it was.
    SameThing same_thing = 1;
    // It is another.
    Thing new_thing = 2 [(kibitz.json.v1.answer) = true];
  }
}
// Nothing.
message SameThing {}
// A thing.
message Thing {
  // Its number.
  uint64 number = 1;
  // When it was made.
  google.protobuf.Timestamp made_at = 2;
  // What lies in it.
  optional Thing inside = 3;
  // Its kind.
  Kind kind = 4;
  // Another kind.
  optional Kind other = 5;
  // How many of each.
  map<string, double> counts = 7;
  // What is known.
  oneof known {
    // A weight.
    double weight = 8;
    // A neighbour.
    Thing neighbour = 9;
  }
  // Its id.
  string id = 10;
  // All its kinds.
  repeated Kind kinds = 11;
}
// A kind.
enum Kind {
  // Not said.
  KIND_UNSPECIFIED = 0;
  // Without corners.
  KIND_ROUND = 1;
  // With corners.
  KIND_CORNERED = 2;
  // Soft.
  KIND_SOFT_ONE = 3;
}
`;

const kinds = ["round", "cornered", "soft_one"];
const meanings = "A kind.\n\n- `round`: Without corners.\n- `cornered`: With corners.\n- `soft_one`: Soft.";

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into at a hundred places
type Document = any;

describe("a test proto", () => {
  const folder = useTemporaryFolder();
  const make = (text: string): Document =>
    documentOf({ services: compileProto(folder, text), version: "1.2.3", examples: [] });
  let made: Document;
  const document = (): Document => {
    made ??= make(things);
    return made;
  };

  test("the OpenAPI generator writes each call that the proto annotates once, with its other paths in the description", () => {
    const { paths } = document();
    expect(Object.keys(paths)).toEqual(["/v1/things", "/v1/things/stream"]);
    expect(Object.keys(paths["/v1/things"])).toEqual(["post", "get"]);
    expect(paths["/v1/things"].post).toMatchObject({
      operationId: "putThing",
      tags: ["Thing"],
      summary: "Put a thing somewhere",
      description: "It stays there.\n\nThe same as `POST /things`.",
    });
    expect(document().info.version).toBe("1.2.3");
    expect(document().tags).toEqual([{ name: "Thing", description: "Keep things." }]);
  });

  test("the OpenAPI generator describes the ranges and optional fields of requests, and forbids unknown fields", () => {
    expect(document().components.schemas.PutThingRequest).toEqual({
      type: "object",
      description: "A thing to put.\n\nWhere to. Only one of `shelf`, `drawer` is set.",
      properties: {
        name: { type: "string", minLength: 1, description: "Its name." },
        size: {
          type: ["integer", "null"],
          format: "int32",
          exclusiveMinimum: -5,
          exclusiveMaximum: 8,
          description: "How large. The default is 7.",
        },
        kind: {
          type: "string",
          enum: kinds,
          description: `Of what kind. The default is \`round\`.\n\n${meanings}`,
        },
        shelf: { type: ["string", "null"], description: "A shelf." },
        drawer: { type: ["integer", "null"], minimum: 0, description: "A drawer." },
        tags: { type: "array", items: { type: "string", pattern: "^a" }, minItems: 1, description: "Tags." },
        more: { type: ["object", "null"], additionalProperties: true, description: "Anything else." },
        fragile: { type: "boolean", description: "Always there in proto3." },
      },
      required: ["name", "tags"],
      additionalProperties: false,
    });
  });

  test("the OpenAPI generator describes query parameters for requests without a body", () => {
    expect(document().paths["/v1/things"].get.parameters).toEqual([
      {
        name: "number",
        in: "query",
        description: "Its number.",
        required: false,
        schema: { type: "integer", format: "int64", minimum: 0, maximum: 9 },
      },
    ]);
  });

  test("the OpenAPI generator describes all response fields as required, and allows null for absent values", () => {
    const { description, properties, required, additionalProperties } = document().components.schemas.Thing;
    const anyKind = { type: "string", "x-extensible-enum": kinds, examples: kinds };
    const withoutWords = ({ description: _, ...schema }: Record<string, unknown>) => schema;
    const schemas = Object.entries(properties as Record<string, Record<string, unknown>>);
    expect(Object.fromEntries(schemas.map(([name, schema]) => [name, withoutWords(schema)]))).toEqual({
      number: { type: "integer", format: "int64", minimum: 0 },
      made_at: { type: "string", format: "date-time" },
      inside: { oneOf: [{ $ref: "#/components/schemas/Thing" }, { type: "null" }] },
      kind: anyKind,
      other: { ...anyKind, type: ["string", "null"] },
      kinds: { type: "array", items: { ...anyKind, description: meanings } },
      counts: { type: "object", additionalProperties: { type: "number", format: "double" } },
      weight: { type: ["number", "null"], format: "double" },
      neighbour: { oneOf: [{ $ref: "#/components/schemas/Thing" }, { type: "null" }] },
      id: { type: "string" },
    });
    expect(required).toEqual(Object.keys(properties));
    expect(additionalProperties).toBeUndefined();
    expect(description).toBe("A thing.\n\nWhat is known. Only one of `weight`, `neighbour` is set.");
    expect(properties.other.description).toBe(`Another kind.\n\n${meanings}`);
    expect(Object.keys(document().components.schemas)).not.toContain("Kind");
  });

  test("the OpenAPI generator describes a stream at a separate path and as another content type of the unary call", () => {
    const { paths } = document();
    expect(Object.keys(paths["/v1/things"].post.responses[200].content)).toEqual([
      "application/json",
      "text/event-stream",
    ]);
    expect(Object.keys(paths["/v1/things/stream"].post.responses[200].content)).toEqual([
      "text/event-stream",
    ]);
  });

  test("the OpenAPI generator names the events of a stream after the oneof fields of its message", () => {
    const { schema } = document().paths["/v1/things/stream"].post.responses[200].content["text/event-stream"];
    const events = schema.oneOf.map(({ properties: { event, data } }: Document) => [
      event.enum,
      data.contentSchema.$ref.split("/").at(-1),
    ]);
    expect(events).toEqual([
      [["same_thing"], "SameThing"],
      [["new_thing", "done"], "Thing"],
      [["error"], "Problem"],
    ]);
  });

  test.each([
    ["a field", "string bare = 1 [(buf.validate.field).string.max_len = 9];", /Answer\.bare has a rule/],
    [
      "a choice",
      "oneof bare { option (buf.validate.oneof).required = true;\n// A.\nstring a = 1; }",
      /Answer\.bare has a rule/,
    ],
    [
      "a message",
      'option (buf.validate.message).cel = {id: "a" expression: "true"};\n// A.\nstring a = 1;',
      /Answer has a rule/,
    ],
  ])(
    "the OpenAPI generator refuses a response message that has a validation rule for %s",
    (_, members, complaint) => {
      const text = `${head}
// Request.
message Request {}
// Answer.
message Answer {
// Bare.
${members}
}
// Keep.
service BareService {
  // Get.
  rpc Get(Request) returns (Answer) { option (google.api.http) = {post: "/bare" body: "*"}; }
}`;
      expect(() => make(text)).toThrow(complaint);
    },
  );

  test.each([
    ["a field without a comment", "message Bare { string bare = 1; }", /Bare has no comment/],
    [
      "a validation rule that JSON Schema cannot express",
      "// Bare.\nmessage Bare {\n// Bare.\nstring bare = 1 [(buf.validate.field).string.email = true]; }",
      /no keyword of JSON Schema is known for the rule .*email/,
    ],
    [
      "a type in a request and a response",
      "// Bare.\nmessage Bare {\n// Bare.\nProblem bare = 1; }",
      /need two schemas of one name/,
    ],
    [
      "a type without a JSON form",
      "// Bare.\nmessage Bare {\n// Bare.\nbytes bare = 1; }",
      /not supported in plain JSON/,
    ],
  ])("the OpenAPI generator refuses %s", (_, message, complaint) => {
    const text = `${head}${message}
// Keep.
service BareService {
  // Get.
  rpc Get(Bare) returns (Problem) { option (google.api.http) = {post: "/bare" body: "*"}; }
}`;
    expect(() => make(text)).toThrow(complaint);
  });
});
