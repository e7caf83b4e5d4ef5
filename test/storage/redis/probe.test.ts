import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const folder = new URL("../../../src/storage/redis/", import.meta.url);

/** Commands that scripts call, by the file that they stand in. */
function commandsIn(name: string): readonly string[] {
  const text = readFileSync(new URL(name, folder), "utf8");
  return [...text.matchAll(/redis\.call\('([A-Z]+)'/g)].map(([, command = ""]) => command);
}

test("a start tries every command that a script uses, so that missing rights are told then", () => {
  const used = readdirSync(folder).flatMap(commandsIn);
  expect(used.length).toBeGreaterThan(60);
  expect(used.filter((command) => !commandsIn("probe.ts").includes(command))).toEqual([]);
});
