import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const textOf = (path: string) => readFileSync(new URL(`../../deploy/${path}`, import.meta.url), "utf8");

// A copy, which `npm run generate` makes: a chart may take in no file from outside its folder, and a link to one is lost wherever
// a checkout or an archive knows no links. HAProxy then got the path for its configuration.
test("the chart has the configuration of HAProxy that operators copy", () => {
  expect(textOf("helm/kibitz/files/haproxy.cfg")).toBe(textOf("haproxy/haproxy.cfg"));
});
