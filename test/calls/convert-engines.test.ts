import { expect, test } from "vitest";
import { defaultsOfOptions, schemaOfOptions } from "../../src/calls/convert-engines.ts";
import type { EngineOption } from "../../src/engine/engine.ts";
import { options } from "../engine/build-of.ts";

interface Property {
  readonly type: string;
  readonly title: string;
  readonly default: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

const schema = schemaOfOptions(options);
const properties = Object.entries(schema.properties as unknown as Readonly<Record<string, Property>>);

test("the schema of engine options names its JSON Schema version and allows no unknown option", () => {
  expect(schema).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    additionalProperties: false,
  });
  expect(Object.keys(schema).toSorted()).toEqual(["$schema", "additionalProperties", "properties", "type"]);
});

test("the schema of engine options has a property for each option, with the bounds of the engine", () => {
  expect(schema.properties).toMatchObject({
    skill_level: { type: "integer", minimum: 0, maximum: 20, default: 20, "x-uci-name": "Skill Level" },
    uci_limit_strength: { type: "boolean", default: false, "x-uci-name": "UCI_LimitStrength" },
    uci_elo: { type: "integer", minimum: 1320, maximum: 3190, default: 1320, "x-uci-name": "UCI_Elo" },
    uci_chess960: { type: "boolean", default: false, "x-uci-name": "UCI_Chess960" },
  });
  expect(properties).toHaveLength(options.length);
});

test.each(properties)("the option %s has a title, and a default value within its bounds", (_, property) => {
  expect(property.title).toMatch(/^[A-Z].+/);
  expect(typeof property.default).toBe(property.type === "integer" ? "number" : property.type);
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = property;
  expect(Number(property.default)).toBeGreaterThanOrEqual(minimum);
  expect(Number(property.default)).toBeLessThanOrEqual(maximum);
  expect("minimum" in property).toBe(property.type === "integer");
});

test("an unknown option has its UCI name as its title", () => {
  const unknown: EngineOption = {
    name: "contempt",
    engineName: "Contempt",
    kind: "boolean",
    default: true,
  };
  expect(schemaOfOptions([unknown])).toMatchObject({ properties: { contempt: { title: "Contempt" } } });
});

test("the schema of an engine without options allows no option", () => {
  expect(schemaOfOptions([])).toMatchObject({ properties: {}, additionalProperties: false });
});

test("the default options are the defaults in the schema", () => {
  const ofSchema = properties.map(([name, property]) => [name, property.default]);
  expect(defaultsOfOptions(options)).toEqual(Object.fromEntries(ofSchema));
});
