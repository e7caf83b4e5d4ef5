import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { instructions, tools } from "../../../src/protocols/mcp/tools.ts";

type Schema = Readonly<Record<string, unknown>>;

const document = JSON.parse(readFileSync(new URL("../../../gen/openapi.json", import.meta.url), "utf8"));
const schemas: Readonly<Record<string, { readonly properties: Readonly<Record<string, Schema>> }>> =
  document.components.schemas;

const boundKeywords = ["minimum", "maximum", "minLength", "maxLength", "maxItems", "default"];

const argumentsOf = (request: string, names: readonly string[]) =>
  names.map((name) => [name, schemas[request]?.properties[name] ?? {}] as const);

const shared = [
  [
    "analyze_position",
    argumentsOf("AnalysisRequest", ["fen", "moves", "depth", "nodes", "multipv", "engine"]),
  ],
  ["compare_moves", argumentsOf("AnalysisRequest", ["fen", "moves", "depth"])],
  ["review_game", argumentsOf("ReviewGameRequest", ["fen", "moves", "depth"])],
  ["play_moves", argumentsOf("AnalysisRequest", ["fen", "moves"])],
] as const;

describe.each(shared)("%s", (name, expected) => {
  const properties: Readonly<Record<string, Schema>> =
    tools.find((tool) => tool.name === name)?.inputSchema.properties ?? {};

  test.each(expected)(
    `the MCP tool ${name} has the same bounds for %s as the HTTP API`,
    (argument, schema) => {
      const own = properties[argument] ?? {};
      for (const bound of boundKeywords.filter((bound) => bound in schema && bound !== "minLength")) {
        expect([bound, own[bound]]).toEqual([
          bound,
          argument === "fen" && bound === "default" ? "startpos" : schema[bound],
        ]);
      }
      expect([own.type, "null"]).toEqual(expect.arrayContaining([schema.type].flat()));
    },
  );
});

test("no MCP tool says a default depth for all engines, because an engine may have another default limit", () => {
  const depths = tools.flatMap(({ inputSchema }) => inputSchema.properties.depth ?? []);
  expect(depths).toHaveLength(3);
  for (const depth of depths) {
    expect(depth).not.toHaveProperty("default");
    expect((depth as Schema).description).toContain("Stockfish");
  }
});

test("the MCP server has at most four tools, and each argument has a description", () => {
  expect(tools.length).toBeLessThanOrEqual(4);
  for (const { inputSchema } of tools) {
    for (const argument of Object.values(inputSchema.properties)) {
      expect(argument.description).toMatch(/[\w)]\.$/);
    }
  }
});

test("the list of MCP tools is short enough for the context of a model", () => {
  const listed = tools.map(({ name, title, description, inputSchema }) => ({
    name,
    title,
    description,
    inputSchema,
  }));
  expect(JSON.stringify(listed).length + instructions.length).toBeLessThan(6000);
});
