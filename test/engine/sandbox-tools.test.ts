import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tools } from "../../src/engine/sandbox/layers.ts";

test("the image has every tool that the sandbox is made of", () => {
  const dockerfile = readFileSync(join(import.meta.dirname, "../../deploy/Dockerfile"), "utf8");
  const programs = /make-root\.sh \/image (.*?) \\/.exec(dockerfile)?.[1]?.split(" ") ?? [];
  expect(programs).toEqual(expect.arrayContaining([...tools]));
});
