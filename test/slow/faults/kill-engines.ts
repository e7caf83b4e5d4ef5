import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";

const bench = fileURLToPath(new URL("../../../bench/kills.ts", import.meta.url));

/** Has the bench kill and suspend so many engines at random under load: no request is lost, no process left. */
export async function killEngines(kills: number, engine: string): Promise<void> {
  const child = spawn(process.execPath, [bench, String(kills), "300", "7", engine], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  const [said] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(said).toContain("lost: 0 ");
  expect(said).toContain("exit code 0, processes left: 0 ");
  expect(child.exitCode).toBe(0);
}
