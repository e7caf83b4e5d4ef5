import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { linksFor } from "../../src/engine/sandbox/links.ts";

test("the image has every program that the sandbox runs", () => {
  const dockerfile = readFileSync(join(import.meta.dirname, "../../deploy/Dockerfile"), "utf8");
  const programs = /make-root\.sh \/image (.*?) \\/.exec(dockerfile)?.[1]?.split(" ") ?? [];
  const links = linksFor(undefined, "/data").map(({ command }) => command(1)[0]);
  expect(links).toHaveLength(4);
  expect(programs).toEqual(expect.arrayContaining([...links, "sh", "mount"]));
});
