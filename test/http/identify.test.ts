import { expect, test } from "vitest";
import { spanBelow } from "../../src/http/listener/dispatch.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";

test.each([
  [`00-${trace}-${parent}-01`, "01"],
  [`00-${trace}-${parent}-00`, "00"],
  [`00-${trace}-${parent}-ff`, "01"],
  [`00-${trace}-${parent}-fe`, "00"],
  [`cc-${trace}-${parent}-01`, "01"],
  [`cc-${trace}-${parent}-01-what-comes-later`, "01"],
])("below %s there is a new span of the same trace", (header, flags) => {
  expect(spanBelow(header)).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-${flags}$`));
  expect(spanBelow(header)).not.toBe(spanBelow(header));
});

test.each([
  "",
  trace,
  `00-${trace}-${parent}`,
  `00-${trace}-${parent}-01-more`,
  `00-${trace}-${parent}-01 `,
  `ff-${trace}-${parent}-01`,
  `00-${trace.toUpperCase()}-${parent}-01`,
  `00-${"0".repeat(32)}-${parent}-01`,
  `00-${trace}-${"0".repeat(16)}-01`,
  `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
  `cc-${trace}-${parent}-01.`,
])("%j is no trace", (header) => {
  expect(spanBelow(header)).toBeUndefined();
});
