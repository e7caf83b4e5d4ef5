import { create, type DescMessage, type JsonObject } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { AnalysisRequestSchema, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  EvaluateBatchRequestSchema,
  ListEnginesRequestSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createMessageReader } from "../../../src/calls/plain/read-message.ts";
import { messageWith } from "./made-up-proto.ts";

const readRequest = createMessageReader(AnalysisRequestSchema);
const fen = "8/8/8/8/8/8/8/K1k5 w - - 0 1";

function read(desc: DescMessage, text: string) {
  return createMessageReader(desc)(JSON.parse(text));
}

/** Reads a request with one invalid field. Returns the violation of that field. */
function violationOf(field: string) {
  const { violations, message } = readRequest(JSON.parse(`{"fen":"${fen}",${field}}`));
  expect(violations).toHaveLength(1);
  expect(message).toEqual(create(AnalysisRequestSchema, { fen }));
  return violations[0];
}

describe("a request", () => {
  it("a request is read with the field names of the proto", () => {
    const { message, violations } = readRequest({
      fen,
      moves: ["e2e4", "e5"],
      depth: 14,
      multipv: 2,
      movetime_ms: 1000,
      engine: "latest",
      path: "native",
      options: { skill_level: 3, deep: { list: [1, null, "x", false] } },
      nodes: 1_000_000_000,
      search_moves: ["e4"],
    });
    expect(violations).toEqual([]);
    expect(message).toEqual(
      create(AnalysisRequestSchema, {
        fen,
        moves: ["e2e4", "e5"],
        depth: 14,
        multipv: 2,
        movetimeMs: 1000,
        engine: "latest",
        path: Path.NATIVE,
        options: { skill_level: 3, deep: { list: [1, null, "x", false] } },
        nodes: 1_000_000_000n,
        searchMoves: ["e4"],
      }),
    );
  });

  it("an empty request is readable, and the rules find its missing fields later", () => {
    expect(readRequest({})).toEqual({ message: create(AnalysisRequestSchema), violations: [] });
  });

  it("a field with the value 0 differs from an unset field", () => {
    expect(readRequest({ depth: 0 }).message).toEqual(create(AnalysisRequestSchema, { depth: 0 }));
  });

  it.each([null, [], "x", 1, true])("the JSON value %j is refused as a request", (json) => {
    expect(readRequest(json).violations).toMatchObject([{ pointer: "", code: "invalid_type" }]);
  });
});

describe("integers", () => {
  it.each([
    ["14", 14],
    ["14.0", 14],
    ["1e1", 10],
    ["0", 0],
    ["4294967295", 4294967295],
  ])("the JSON text %s is read as the integer %d", (text, depth) => {
    expect(read(AnalysisRequestSchema, `{"depth":${text}}`)).toEqual({
      violations: [],
      message: create(AnalysisRequestSchema, { depth }),
    });
  });

  it("the number -0 is read as 0", () => {
    expect(Object.is(Reflect.get(readRequest({ depth: -0 }).message, "depth"), 0)).toBe(true);
  });

  it.each([
    ['"14"', '"14"'],
    ["14.5", "14.5"],
    ["true", "true"],
    ["[14]", "an array"],
    ["{}", "an object"],
  ])("the JSON text %s is refused as an integer", (text, shown) => {
    expect(violationOf(`"depth":${text}`)).toEqual({
      pointer: "/depth",
      code: "invalid_type",
      message: `\`depth\` must be an integer from 1 to 30, not ${shown}.`,
      allowed: { minimum: 1, maximum: 30 },
    });
  });

  it.each(["-1", "4294967296", "1e400", "-1e400"])(
    "the integer %s is refused, and the violation contains the allowed range",
    (text) => {
      expect(violationOf(`"movetime_ms":${text}`)).toMatchObject({
        pointer: "/movetime_ms",
        code: "out_of_range",
        allowed: { minimum: 50, maximum: 60000 },
      });
    },
  );

  it("an integer outside the allowed range but within its type is readable, and is refused later by the rules", () => {
    expect(readRequest({ depth: 99 }).violations).toEqual([]);
  });

  it("a 64-bit integer is read exactly, or refused", () => {
    expect(readRequest({ nodes: Number.MAX_SAFE_INTEGER }).message).toMatchObject({
      nodes: 9007199254740991n,
    });
    expect(violationOf('"nodes":9007199254740993')).toMatchObject({
      pointer: "/nodes",
      code: "out_of_range",
    });
    expect(violationOf('"nodes":-1')).toMatchObject({ pointer: "/nodes", code: "out_of_range" });
  });
});

describe("other types", () => {
  it.each([
    ['"fen":null', "`fen` must be a string, not null."],
    ['"fen":14', "`fen` must be a string, not 14."],
    ['"fen":"\\ud800"', "`fen` contains an unpaired surrogate."],
  ])("a field with another type is refused: %s", (field, message) => {
    expect(read(AnalysisRequestSchema, `{${field}}`).violations).toEqual([
      { pointer: "/fen", code: "invalid_type", message },
    ]);
  });

  it.each([
    ['"engine":19', "/engine", "`engine` must be a string, not 19."],
    ['"moves":{}', "/moves", "`moves` must be an array, not an object."],
    ['"options":[]', "/options", "`options` must be an object, not an array."],
    ['"options":"x"', "/options", '`options` must be an object, not "x".'],
  ])("a field with a wrong type is refused: %s", (field, pointer, message) => {
    expect(violationOf(field)).toEqual({ pointer, code: "invalid_type", message });
  });

  it("a boolean field refuses a string", () => {
    const desc = messageWith({ name: "yes", type: Type.BOOL });
    expect(read(desc, '{"yes":true}')).toMatchObject({ violations: [], message: { yes: true } });
    expect(read(desc, '{"yes":"true"}').violations).toMatchObject([
      { pointer: "/yes", code: "invalid_type", message: '`yes` must be true or false, not "true".' },
    ]);
  });

  it("the violation of an invalid value repeats at most 64 characters", () => {
    const { violations } = readRequest({ depth: "9".repeat(50_000) });
    expect(violations[0]?.message.length).toBeLessThan(64 + 60);
  });

  it.each([
    { type: Type.BYTES },
    { type: Type.DOUBLE },
    { type: Type.SINT32 },
    { type: Type.STRING, map: true as const },
    { type: Type.STRING, oneof: true as const },
    { type: Type.MESSAGE, typeName: ".google.protobuf.Duration" },
  ])("a field type that requests never use is not supported: %o", (field) => {
    expect(() => createMessageReader(messageWith({ name: "raw", ...field }))).toThrow(
      /Thing\.raw: this type is not supported/,
    );
  });
});

describe("enums", () => {
  it.each([
    ["auto", Path.AUTO],
    ["wasm", Path.WASM],
    ["native", Path.NATIVE],
  ])("an enum is read from its lower-case word: %s", (word, path) => {
    expect(readRequest({ path: word }).message).toEqual(create(AnalysisRequestSchema, { path }));
  });

  it.each(["unspecified", "WASM", "PATH_WASM", "", "constructor", "__proto__"])(
    "the word %j is refused as an enum",
    (word) => {
      expect(violationOf(`"path":"${word}"`)).toEqual({
        pointer: "/path",
        code: "out_of_range",
        message: `\`path\` must be one of "auto", "wasm", "native", not "${word}".`,
        allowed: { enum: ["auto", "wasm", "native"] },
      });
    },
  );

  it("a number is refused as an enum", () => {
    expect(violationOf('"path":2')).toMatchObject({ pointer: "/path", code: "invalid_type" });
  });
});

describe("unknown fields", () => {
  it.each([
    ["movetimeMs", "movetime_ms"],
    ["movetime", "movetime_ms"],
    ["MoveTime-MS", "movetime_ms"],
    ["multiPV", "multipv"],
    ["deph", "depth"],
    ["Depth", "depth"],
    ["FEN", "fen"],
    ["option", "options"],
  ])("the unknown field %s is refused, and the error suggests the similar name %s", (key, meant) => {
    expect(violationOf(`"${key}":1`)).toEqual({
      pointer: `/${key}`,
      code: "unknown_field",
      message: `There is no field \`${key}\` here: did you mean \`${meant}\`?`,
      meant,
    });
  });

  it("an unknown field without a similar name is refused with a list of the known fields", () => {
    expect(violationOf('"position":1')?.message).toBe(
      "There is no field `position` here: the fields are `fen`, `moves`, `depth`, `multipv`, `movetime_ms`, `engine`, `path`, `options`, `nodes`, `search_moves`.",
    );
    expect(read(ListEnginesRequestSchema, '{"all":1}').violations).toEqual([
      { pointer: "/all", code: "unknown_field", message: "There is no field `all` here." },
    ]);
  });

  it.each(["__proto__", "constructor", "toString", "$typeName"])(
    "the field %s is refused as unknown, and changes no JavaScript prototype",
    (key) => {
      const { message, violations } = read(AnalysisRequestSchema, `{"${key}":{"admin":true}}`);
      expect(violations).toMatchObject([{ pointer: `/${key}`, code: "unknown_field" }]);
      expect(message).toEqual(create(AnalysisRequestSchema));
      expect(Object.prototype).not.toHaveProperty("admin");
    },
  );

  it("the violation of an unknown field has a JSON pointer by RFC 6901", () => {
    expect(readRequest({ "a/b~c": 1, "": 2 }).violations.map(({ pointer }) => pointer)).toEqual([
      "/a~1b~0c",
      "/",
    ]);
  });

  it("the name of an unknown field is cut to 64 characters in the message and in the pointer", () => {
    const [violation] = readRequest({ ["/".repeat(40_000)]: 1 }).violations;
    expect(violation?.pointer).toBe(`/${"~1".repeat(63)}…`);
    expect(violation?.message.length).toBeLessThan(300);
  });
});

describe("lists and nested messages", () => {
  it("the violation of an invalid list item contains the index of the item", () => {
    const { message, violations } = readRequest({ fen, moves: ["e4", 5, null, "e5"] });
    expect(violations).toEqual([
      { pointer: "/moves/1", code: "invalid_type", message: "Each item of `moves` must be a string, not 5." },
      {
        pointer: "/moves/2",
        code: "invalid_type",
        message: "Each item of `moves` must be a string, not null.",
      },
    ]);
    // An invalid item becomes an empty string, so that the other items keep their index.
    expect(message).toEqual(create(AnalysisRequestSchema, { fen, moves: ["e4", "", "", "e5"] }));
  });

  it("the violation of an invalid field in a list item contains the index and the field", () => {
    const { message, violations } = read(
      EvaluateBatchRequestSchema,
      `{"requests":[{"fen":"${fen}"},7,{"fen":"${fen}","depth":"x","deph":1,"options":{"a/b":[1e999]}}]}`,
    );
    expect(violations.map(({ pointer, code }) => [pointer, code])).toEqual([
      ["/requests/1", "invalid_type"],
      ["/requests/2/depth", "invalid_type"],
      ["/requests/2/deph", "unknown_field"],
      ["/requests/2/options/a~1b/0", "out_of_range"],
    ]);
    expect(message).toEqual(create(EvaluateBatchRequestSchema, { requests: [{ fen }, {}, { fen }] }));
  });

  it("at most 20 violations are reported", () => {
    const keys = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k${index}`, 1]));
    expect(readRequest(keys).violations).toHaveLength(20);
    expect(readRequest({ moves: Array(3000).fill(1) }).violations).toHaveLength(20);
  });
});

describe("structs", () => {
  it("a struct may contain any JSON value", () => {
    const text = '{"options":{"a":[1,"x",null,true,{"b":{}}],"__proto__":{"c":1}}}';
    const { message, violations } = read(AnalysisRequestSchema, text);
    expect(violations).toEqual([]);
    expect(JSON.stringify((message as { options?: JsonObject }).options)).toBe(text.slice(11, -1));
  });

  it("a struct refuses values that protobuf cannot encode", () => {
    const { message, violations } = read(
      AnalysisRequestSchema,
      '{"options":{"a":1e999,"b":["\\udc00"],"\\ud800":0}}',
    );
    expect(violations.map(({ pointer, code }) => [pointer, code])).toEqual([
      ["/options/a", "out_of_range"],
      ["/options/b/0", "invalid_type"],
      ["/options/\ufffd", "invalid_type"],
    ]);
    expect(message).toEqual(create(AnalysisRequestSchema));
  });
});
