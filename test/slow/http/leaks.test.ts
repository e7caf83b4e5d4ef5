import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const script = fileURLToPath(new URL("left-behind.ts", import.meta.url));

test("calls that have ended leave no memory behind in their connection or in the watch over unread streams", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  const { calls, connection, streams } = JSON.parse(stdout);
  expect(calls).toBe(0);
  expect(connection).toBeLessThan(500);
  expect(streams).toBeLessThan(500);
});
