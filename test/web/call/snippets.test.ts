import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { jsonText, pythonText, shellWord } from "../../../web/src/call/quote.ts";
import type { ShownCall } from "../../../web/src/call/shown-call.ts";
import { type Language, snippets } from "../../../web/src/call/snippets.ts";

const languages = Object.keys(snippets) as readonly Language[];

const call: ShownCall = {
  url: "http://localhost:8080/v1/eval",
  body: { fen: "startpos", depth: 12 },
  events: false,
  withKey: false,
  host: "localhost:8080",
  tls: false,
  prefix: "",
  procedure: "chess.analysis.v1.AnalysisService/Evaluate",
  message: { fen: "startpos", depth: 12 },
};

test("the curl snippet looks like the curl commands in the documentation", () => {
  expect(snippets.curl.write(call, "")).toBe(
    `curl 'http://localhost:8080/v1/eval' \\
  -H 'Content-Type: application/json' \\
  -d '{"fen": "startpos", "depth": 12}'`,
  );
});

describe.each(languages)("%s", (language) => {
  const write = (more: Partial<ShownCall>) => snippets[language].write({ ...call, ...more }, "kbz_x");

  test(`a snippet for ${language} reads an API key from the environment only if the page has sent an API key`, () => {
    expect(write({ withKey: true })).toContain("KIBITZ_API_KEY");
    expect(write({})).not.toContain("KIBITZ_API_KEY");
    const says = snippets[language].needs({ ...call, withKey: true }) + write({ withKey: true });
    expect(says).toMatch(/export KIBITZ_API_KEY=kbz_x\n|Set the environment variable/m);
  });

  test(`a snippet for ${language} shows no invisible characters`, () => {
    const body: JsonObject = { fen: "a\u202eb\u2028c\u0000d\u007fe\u{e0041}f\ufeff" };
    expect(write({ body, message: body })).not.toMatch(/[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/u);
  });
});

test.each(["", "it's", "'", "''", "a'b\"c`d$e\\f!g\nh", "'; rm -rf / #"])(
  "a shell reads a quoted word unchanged: %j",
  (text) => {
    // In single quotes, a shell changes no character. A single quote is written as \' outside the quotes.
    const parts = shellWord(text).split(/'([^']*)'|\\(')/);
    expect(parts.filter((part) => part !== undefined).join("")).toBe(text);
  },
);

test.each([
  [{ a: 'é"\\\n\u202e' }, '{"a": "é\\"\\\\\\n\\u202e"}'],
  [["\u{e0041}"], '["\\udb40\\udc41"]'],
])("a snippet contains the request unchanged: %j", (value, text) => {
  expect(jsonText(value)).toBe(text);
  expect(JSON.parse(jsonText(value))).toEqual(value);
});

test("the Python snippet uses Python's keywords and escapes", () => {
  expect(pythonText([true, false, null, 1.5, { "it's": "\u{e0041}\u202e'\"" }])).toBe(
    `[True, False, None, 1.5, {"it's": "\\U000e0041\\u202e'\\""}]`,
  );
});

test("a snippet splits a long request into several lines", () => {
  const body = { moves: Array.from({ length: 20 }, () => "Nf3") };
  expect(pythonText(body, "  ")).toMatch(/^\{\n {6}"moves": \[\n {10}"Nf3",\n/);
  expect(jsonText(body, "\t")).toMatch(/^\{\n\t {2}"moves": \[\n\t {4}"Nf3",\n/);
});

test("the grpcurl snippet uses TLS if the page does, and warns that gRPC has no path prefix", () => {
  const behind = { ...call, prefix: "/kibitz", tls: true, host: "chess.example:443" };
  expect(snippets.grpcurl.write(behind, "")).not.toContain("-plaintext");
  expect(snippets.grpcurl.needs(behind)).toContain("gRPC knows no paths such as /kibitz");
  expect(snippets.grpcurl.needs(call)).not.toContain("paths");
});
