import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("left-behind.ts", import.meta.url));

test("calls that have ended leave nothing behind in their connection or in what looks for streams that nobody reads", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  const { calls, connection, streams } = JSON.parse(stdout);
  expect(calls).toBe(0);
  expect(connection).toBeLessThan(500);
  expect(streams).toBeLessThan(500);
});
