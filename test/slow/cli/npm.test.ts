import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { descendantsOf, stillRunning } from "../../engine/processes.ts";
import { freePort } from "../../support/free-port.ts";
import { patienceMs } from "../../support/patience.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const here = fileURLToPath(new URL("../../..", import.meta.url));
const folder = useTemporaryFolder();
const poll = { timeout: patienceMs };

/** Starts a server by a command in a new process group, as a terminal or a supervisor does. */
async function startBy(command: string, args: readonly string[], cwd = here) {
  const port = await freePort();
  const settings = { ...quickestSettings, KIBITZ_PORT: String(port), KIBITZ_DATA_DIR: folder };
  const child = spawn(command, args, {
    cwd,
    env: { ...settings, PATH: process.env.PATH, HOME: folder },
    detached: true,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const pid = child.pid as number;
  onTestFinished(() => {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // All processes of the group have ended.
    }
  });
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isReady, poll).toBe(true);
  return { child, pid, isReady };
}

/** More than twice the time that a server needs to notice that its parent process has ended. */
const noticedMs = 2500;

test.each([
  ["npm start", "npm", ["start"]],
  ["npx kibitz serve in a checkout", "npx", ["kibitz", "serve"]],
])(
  "SIGTERM to the process of %s stops the server and its engines, and frees the port",
  async (_name, command, args) => {
    const { child, pid, isReady } = await startBy(command, args);
    const processes = descendantsOf(pid);
    expect(processes.length).toBeGreaterThan(1);
    child.kill("SIGTERM");
    await expect.poll(() => stillRunning([pid, ...processes]), poll).toEqual([]);
    expect(await isReady()).toBe(false);
  },
);

test("npm start in the background keeps running after its shell exits, and stops when npm gets SIGTERM", async () => {
  const pidFile = join(folder, "npm.pid");
  const { child, isReady } = await startBy("sh", ["-c", `nohup npm start & echo $! > ${pidFile}`]);
  await expect.poll(() => child.exitCode, poll).toBe(0);
  await sleep(noticedMs);
  expect(await isReady()).toBe(true);
  process.kill(Number(readFileSync(pidFile, "utf8")), "SIGTERM");
  await expect.poll(isReady, poll).toBe(false);
});

test("a server that an npm script starts in the background keeps running after npm exits", async () => {
  const scripts = { up: `node ${join(here, "bin/kibitz.js")} serve > server.log 2>&1 & sleep 2` };
  writeFileSync(join(folder, "package.json"), JSON.stringify({ scripts }));
  const { child, isReady } = await startBy("npm", ["run", "up"], folder);
  await expect.poll(() => child.exitCode, poll).toBe(0);
  await sleep(noticedMs);
  expect(await isReady()).toBe(true);
});
