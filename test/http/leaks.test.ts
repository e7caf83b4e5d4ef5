import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("left-behind.ts", import.meta.url));

test("neither a connection nor what looks for streams that nobody reads keeps calls that have ended", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  const { calls, connection, streams } = JSON.parse(stdout);
  expect(calls).toBe(0);
  expect(connection).toBeLessThan(500);
  expect(streams).toBeLessThan(500);
});
