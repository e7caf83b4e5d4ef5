import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { useTemporaryFolder } from "./temporary-folder.ts";
import { allTests, unitTests, wayOutside } from "./unit-tests.ts";

const folder = useTemporaryFolder();

/** Where the file `x.ts` with this text leads. */
function wayFrom(text: string, files: Readonly<Record<string, string>> = {}) {
  for (const [name, content] of Object.entries({ ...files, "x.ts": text })) {
    writeFileSync(join(folder, name), content);
  }
  return wayOutside("x.ts", folder);
}

test.each([
  ['import { spawn } from "node:child_process";'],
  ['import net from "net";'],
  ['import {\n  connect,\n} from "node:http2";'],
  ['import "node:worker_threads";'],
  ['export { DatabaseSync } from "node:sqlite";'],
  ['const { chromium } = await import("playwright-core");'],
  ['import { credentials } from "@grpc/grpc-js";'],
])("%s leads outside", (text) => {
  expect(wayFrom(text)).toHaveLength(2);
});

test.each([
  ['import { join } from "node:path";'],
  ['import type { Socket } from "node:net";'],
  ['const text = "node:http";'],
  ['// import { spawn } from "node:child_process";'],
])("%s does not", (text) => {
  expect(wayFrom(text)).toBeUndefined();
});

test("what is imported counts, and the way is told, also where files import each other", () => {
  const files = { "a.ts": 'import "./b.ts";', "b.ts": 'import "./a.ts";\nimport "node:net";' };
  expect(wayFrom('import { a } from "./a.ts";', files)).toEqual(["x.ts", "a.ts", "b.ts", "node:net"]);
  expect(wayFrom('import type { a } from "./a.ts";', files)).toBeUndefined();
});

test("a test is one of the units or it is not, by what it imports", () => {
  const units = unitTests(allTests());
  expect(units).toEqual(
    expect.arrayContaining(["test/chess/score.test.ts", "test/engine/parse-line.test.ts"]),
  );
  expect(units.filter((file) => /contract|faults|listener/.test(file))).toEqual([]);
});
