import { describe, expect, it } from "vitest";
import { jsonFromBytes } from "../../../src/calls/bound-request.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { explainJson, readJsonObject } from "../../../src/protocols/json/json-text.ts";
import { createRandom } from "../../support/random.ts";

function objectOf(body: string | Uint8Array) {
  return readJsonObject(typeof body === "string" ? body : jsonFromBytes(body));
}

function violationsOf(body: string | Uint8Array) {
  try {
    objectOf(body);
    return [];
  } catch (thrown) {
    if (thrown instanceof KibitzError) {
      return thrown.violations;
    }
    throw thrown;
  }
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe("valid JSON", () => {
  it.each([
    ["{}", {}],
    [' {"a" : [ 1, {"b":null} ], "c":"x\\"y"}\r\n', { a: [1, { b: null }], c: 'x"y' }],
    ['{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}', { a: 1, b: { a: 2 }, c: [{ a: 3 }, { a: 4 }] }],
    ['{"a:b":"c:{[","d\\\\":"e\\\\"}', { "a:b": "c:{[", "d\\": "e\\" }],
    ['{"é":"♞ 🐴"}', { é: "♞ 🐴" }],
  ])("the JSON parser accepts %s", (text, value) => {
    expect(objectOf(text)).toEqual(value);
    expect(objectOf(bytes(text))).toEqual(value);
  });

  it("the JSON parser ignores a byte order mark", () => {
    expect(objectOf(bytes('\ufeff{"a":1}'))).toEqual({ a: 1 });
  });

  it("the keys `__proto__` and `constructor` have no special meaning in JSON", () => {
    const value = objectOf('{"__proto__":{"admin":true},"constructor":1}');
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.prototype).not.toHaveProperty("admin");
  });

  it("the JSON parser accepts 1000 keys and refuses 1001", () => {
    const keyed = (keys: number) =>
      `{"options":{${Array.from({ length: keys - 1 }, (_, index) => `"o${index}":1`)}}}`;
    expect(violationsOf(keyed(1000))).toEqual([]);
    expect(violationsOf(keyed(1001))).toMatchObject([
      {
        pointer: "",
        code: "malformed_json",
        message: "The body has more than 1000 keys.",
      },
    ]);
  });

  it("the JSON parser accepts 32 nested levels and refuses 33", () => {
    const nested = (levels: number) => `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
    expect(violationsOf(nested(32))).toEqual([]);
    expect(violationsOf(nested(33))).toMatchObject([
      {
        pointer: "",
        code: "malformed_json",
        message: "The body is nested more than 32 levels deep.",
      },
    ]);
  });
});

describe("invalid JSON", () => {
  it.each([
    ["{", "The body is cut off: it ends at line 1, column 2, where `}` is expected."],
    ['{"fen":', "The body is cut off: it ends at line 1, column 8, where a value is expected."],
    ['{"a": tru}', "The body is not JSON: it has `tru` at line 1, column 7."],
    [
      '{"a":1,}',
      "The body is not JSON: it has `}` at line 1, column 8, where a key in double quotes is expected.",
    ],
    ["{'a':1}", "The body is not JSON: it has `'a'` at line 1, column 2."],
    ['{"a":1}\n x', "The body is not JSON: it has `x` at line 2, column 2."],
    ['{"a" 1}', "The body is not JSON: it has `1` at line 1, column 6, where `:` is expected."],
    ['{"a":01}', "The body is not JSON: it has `1` at line 1, column 7, where `,` is expected."],
    ['{"a":[1 2]}', "The body is not JSON: it has `2` at line 1, column 9, where `,` is expected."],
    ['{"a":[,]}', "The body is not JSON: it has `,` at line 1, column 7, where a value is expected."],
    ['{"a":NaN}', "The body is not JSON: it has `NaN` at line 1, column 6."],
    [
      '{"a":1}}',
      "The body continues after its JSON value, with `}` at line 1, column 8: send one value and nothing else.",
    ],
    ["[}", "The body is not JSON: it has `}` at line 1, column 2, where a value is expected."],
    ["fen=8/8", "The body is not JSON: it has `fen=8` at line 1, column 1."],
  ])("the JSON parser refuses an invalid text with position and reason: %s", (text, message) => {
    expect(violationsOf(text)).toEqual([{ pointer: "", code: "malformed_json", message }]);
  });

  it.each(['{"a":"x\ny"}', '{"a":"x\ty"}', '{"a":"\\x"}', '{"a":"unclosed}', '{"a\n":1}'])(
    "the JSON parser reports the position of a broken string: %j",
    (text) => {
      expect(violationsOf(text)[0]?.message).toMatch(
        /^The body is not JSON: the string at line 1, column [26] is/,
      );
    },
  );

  it("the JSON parser reports an error after the first 64 KiB without its position", () => {
    expect(violationsOf(`{"a":"${"x".repeat(70_000)}",}`).map(({ message }) => message)).toEqual([
      "The body is not JSON, or repeats a key, after its first 65536 characters.",
    ]);
  });

  it.each(["", " \r\n\t"])("an empty body is refused with an example of a body: %j", (text) => {
    expect(() => readJsonObject(text, "a JSON object with at least `fen`")).toThrow(
      "The body is empty: send a JSON object with at least `fen`.",
    );
  });

  it.each([
    ["Latin-1 text", [0x7b, 0x22, 0xe9, 0x22, 0x3a, 0x31, 0x7d]],
    ["an overlong slash", [0x22, 0xc0, 0xaf, 0x22]],
    ["an encoded surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["UTF-16 text", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])("a body with %s is refused, because it is not valid UTF-8", (_, body) => {
    expect(violationsOf(Uint8Array.from(body))).toMatchObject([
      { code: "malformed_json", message: "The body is not valid UTF-8." },
    ]);
  });

  it("a JSON syntax error contains at most 64 characters of the caller's text", () => {
    const [violation] = violationsOf(`{"a":${"x".repeat(60_000)}}`);
    expect(violation?.message.length).toBeLessThan(64 + 80);
  });
});

it.each([
  ["[]", "an array"],
  ["null", "null"],
  ["14", "14"],
  ['"{}"', '"{}"'],
  ["true", "true"],
])("the body %s is refused, because it is not a JSON object", (text, name) => {
  expect(violationsOf(text)).toEqual([
    { pointer: "", code: "invalid_type", message: `The body must be a JSON object, not ${name}.` },
  ]);
});

describe("duplicate keys", () => {
  it.each([
    ['{"a":1,"a":1}', ["/a"]],
    ['{"a":1,"\\u0061":2}', ["/a"]],
    ['{"o":{"x":1,"y":2,"x":3}}', ["/o/x"]],
    ['{"l":[0,{"x":1,"x":3},{"x":1}]}', ["/l/1/x"]],
    ['{"a":{"b":1,"b":2},"c":0,"a":{}}', ["/a/b", "/a"]],
    ['{"a/b":1,"a/b":2,"~":1,"~":2}', ["/a~1b", "/~0"]],
    ['{"__proto__":1,"__proto__":2}', ["/__proto__"]],
    ['{"":1,"":2}', ["/"]],
    ['{"1":1,"1":2}', ["/1"]],
  ])("the JSON parser reports a duplicate key: %s", (text, pointers) => {
    const violations = violationsOf(text);
    expect(violations.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(new Set(violations.map(({ code }) => code))).toEqual(new Set(["malformed_json"]));
  });

  it("the JSON parser reports up to 20 duplicate keys", () => {
    const pairs = Array.from({ length: 50 }, (_, index) => `"k${index}":1,"k${index}":2`);
    expect(violationsOf(`{${pairs.join()}}`)).toHaveLength(20);
  });

  it("the JSON parser reports both duplicate keys and the position of a syntax error", () => {
    expect(violationsOf('{"a":1,"a":2,').map(({ pointer }) => pointer)).toEqual(["/a", ""]);
  });

  it("the JSON parser shortens reported duplicate keys to 64 characters", () => {
    const key = "k".repeat(30_000);
    const [violation] = violationsOf(`{"${key}":1,"${key}":2}`);
    expect(violation?.pointer).toBe(`/${"k".repeat(63)}…`);
    expect(violation?.message.length).toBeLessThan(130);
  });
});

describe("hostile texts", () => {
  const mib = 1024 * 1024;
  const keys = Array.from({ length: 50_000 }, (_, index) => `"key${index}":${index}`);
  // A quadratic walk through a megabyte takes more than ten minutes.
  it.each([
    ["nested arrays", "[".repeat(300_000)],
    ["nested objects", '{"a":'.repeat(300_000)],
    ["50,000 keys", `{${keys.join()}}`],
    ["50,000 keys twice", `{${keys.join()},${keys.join()}}`],
    ["a string of quotes", `{"a":"${'\\"'.repeat(mib / 2)}"}x`],
    ["a string of backslashes", `{"a":"${"\\\\".repeat(mib / 2)}"}x`],
    ["a string that never ends", `{"a":"${"\\".repeat(mib)}`],
    ["a megabyte of white space", `{${" ".repeat(mib)}x`],
    ["a megabyte of line breaks", `{${"\n".repeat(mib)}x`],
    ["a megabyte of digits", `{"a":${"1".repeat(mib)}x}`],
    ["a megabyte of colons", ":".repeat(mib)],
    ["a megabyte of closing brackets", "]".repeat(mib)],
    ["brackets after a line break in a string", `["\n,${"[".repeat(mib)}`],
    ["brackets after a comment with a quote", `[//"\n${"[".repeat(mib)}`],
    ["a key of a megabyte twice", `{"${"k".repeat(mib)}":1,"${"k".repeat(mib)}":1}`],
  ])(
    "the JSON parser refuses %s before a walk in quadratic time would end",
    { timeout: 60_000 },
    (_, text) => {
      expect(violationsOf(text)).not.toEqual([]);
    },
  );
});

it("the JSON parser finds a syntax error in exactly the texts that JSON.parse refuses", () => {
  const random = createRandom(1972);
  const whole = '{"a":[1,-2.5e+3,true,null,{"b":"x\\u00e9\\n\\"","c":{}}],"d":false,"e":[],"f":0}';
  const pieces = [...'{}[],:"\\ \n\t01-+.eEtn', "\u0001", "\u00a0", "\ufeff", "é", "true", "null", '"g":1'];
  for (let round = 0; round < 20_000; round++) {
    let text = whole;
    for (let change = random.below(3); change >= 0; change--) {
      const place = random.below(text.length);
      text = text.slice(0, place) + random.pick(["", ...pieces]) + text.slice(place + random.below(3));
    }
    const breaks = explainJson(text).filter(({ pointer }) => pointer === "");
    expect(breaks.length === 0, text).toBe(isJson(text));
  }
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
