import { expect, it } from "vitest";
import { refuse } from "../../../src/calls/plain/read-message.ts";
import type { Fault } from "../../../src/errors/errors.ts";

it.each([
  ["true", "true"],
  ["null", "null"],
  ["14.5", "14.5"],
  ['"14"', '"14"'],
  ["[14]", "an array"],
  ['{"a":14}', "an object"],
  ["9007199254740991", "9007199254740991"],
  ["12345678901234567891", "a number that large"],
  ["1e400", "a number that large"],
  ["-1e400", "a number that far below zero"],
])("a refused value is repeated as it was sent, or left out: %s", (text, shown) => {
  const faults: Fault[] = [];
  refuse(faults, "invalid_type", "`depth` must be an integer", JSON.parse(text));
  expect(faults).toEqual([
    { pointer: "", code: "invalid_type", message: `\`depth\` must be an integer, not ${shown}.` },
  ]);
});
