import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const textOf = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");

// The chart needs its own copy, because a chart cannot include files from outside its folder. A link is not enough: some
// checkouts and archives replace a link by a text file with the path.
test("the Helm chart has an exact copy of the HAProxy configuration", () => {
  expect(textOf("helm/kibitz/files/haproxy.cfg")).toBe(textOf("haproxy/haproxy.cfg"));
});
