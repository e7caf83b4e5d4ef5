import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { optionFields } from "../../../web/src/request/option-fields.ts";

test("every option of the engines becomes a field with the schema's title, bounds and default", () => {
  const example = new URL("../../../docs/examples/engines.json", import.meta.url);
  const [engine] = JSON.parse(readFileSync(example, "utf8")).answer.engines;
  expect(optionFields(engine.options_schema)).toEqual([
    {
      kind: "integer",
      name: "skill_level",
      title: "Playing strength by level; the highest is full strength",
      minimum: 0,
      maximum: 20,
      usual: 20,
    },
    {
      kind: "boolean",
      name: "uci_limit_strength",
      title: "Whether to play at the strength of uci_elo",
      usual: false,
    },
    {
      kind: "integer",
      name: "uci_elo",
      title: "Playing strength in Elo; needs uci_limit_strength",
      minimum: 1320,
      maximum: 3190,
      usual: 1320,
    },
    {
      kind: "boolean",
      name: "uci_chess960",
      title: "Whether castling rights in the FEN are those of Chess960",
      usual: false,
    },
  ]);
});

test("option fields know choices and texts, and leave out types without a form", () => {
  const properties = {
    style: { enum: ["Solid", "Risky"], default: "Solid", title: "Style" },
    book: { type: "string" },
    shape: { type: "array" },
    nothing: null,
  };
  expect(optionFields({ properties })).toEqual([
    { kind: "choice", name: "style", title: "Style", choices: ["Solid", "Risky"], usual: "Solid" },
    { kind: "text", name: "book", title: "book" },
  ]);
});

test.each([undefined, {}, { properties: [] }])(
  "a schema without properties has no option fields: %j",
  (schema) => {
    expect(optionFields(schema)).toEqual([]);
  },
);
