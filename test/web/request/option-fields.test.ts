import { expect, test } from "vitest";
import example from "../../../docs/examples/engines.json" with { type: "json" };
import { optionFields } from "../../../web/src/request/option-fields.ts";

test("every engine option becomes a field with the title, bounds and default of the schema", () => {
  const [engine] = example.answer.engines;
  const field = { minimum: undefined, maximum: undefined, choices: [] };
  expect(optionFields(engine?.options_schema)).toMatchObject([
    { kind: "number", name: "skill_level", minimum: 0, maximum: 20, usual: "20" },
    { ...field, kind: "boolean", name: "uci_limit_strength", usual: "false" },
    { kind: "number", name: "uci_elo", minimum: 1320, maximum: 3190, usual: "1320" },
    { ...field, kind: "boolean", name: "uci_chess960", usual: "false" },
  ]);
});

test("choices and texts become option fields, and options of unknown types are omitted", () => {
  const properties = {
    style: { enum: ["Solid", "Risky"], default: "Solid", title: "Style" },
    book: { type: "string" },
    shape: { type: "array" },
    nothing: null,
  };
  expect(optionFields({ properties })).toMatchObject([
    { kind: "choice", name: "style", title: "Style", choices: ["Solid", "Risky"], usual: "Solid" },
    { kind: "text", name: "book", title: "book", usual: "" },
  ]);
});

test.each([undefined, {}, { properties: [] }])(
  "a schema without properties has no option fields: %j",
  (schema) => {
    expect(optionFields(schema)).toEqual([]);
  },
);
