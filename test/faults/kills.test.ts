import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const bench = fileURLToPath(new URL("../../bench/kills.ts", import.meta.url));

/** The bench does a thousand: `npm run bench:kills`. */
const kills = 10;

test("engines that are killed and suspended at random under load lose no request and leave no process behind", async () => {
  const child = spawn(process.execPath, [bench, String(kills), "300", "7"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  const [said] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(said).toContain("lost: 0 ");
  expect(said).toContain("exit code 0, processes left: 0 ");
  expect(child.exitCode).toBe(0);
}, 120_000);
