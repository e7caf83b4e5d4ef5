import { spawn } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { descendantsOf, stillRunning } from "../../engine/processes.ts";
import { copyCheckout } from "../../support/copy-checkout.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const here = fileURLToPath(new URL("../../..", import.meta.url));
const folder = useTemporaryFolder();

test("npm run dev restarts the server when a source file is saved, and leaves no process running after Ctrl-C", async () => {
  const checkout = copyCheckout(join(folder, "checkout"), ["bin", "src", "gen", "package.json"]);
  symlinkSync(join(here, "node_modules"), join(checkout, "node_modules"));
  const env = { ...quickestSettings, PATH: process.env.PATH, KIBITZ_PORT: "0", KIBITZ_DATA_DIR: folder };
  const dev = spawn("npm", ["run", "dev"], {
    cwd: checkout,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise((resolve) => dev.once("close", resolve));
  onTestFinished(() => {
    if (dev.exitCode === null && dev.signalCode === null) {
      process.kill(-(dev.pid as number), "SIGKILL");
    }
  });
  const urls: string[] = [];
  createInterface(dev.stdout).on("line", (line) => {
    const url = /"url":"(http:[^"]+)"/.exec(line)?.[1];
    urls.push(...(url === undefined ? [] : [url]));
  });
  const answers = async () => {
    const welcome = await fetch(`${urls.at(-1)}/`).catch(() => undefined);
    return (await welcome?.text())?.split("\n")[0];
  };

  await expect.poll(() => urls.length, { timeout: 30_000 }).toBe(1);
  expect(await answers()).toContain("Kibitz");

  const page = join(checkout, "src/http/pages/welcome.ts");
  const saved = readFileSync(page, "utf8").replace(/Kibitz/, "Saved");
  writeFileSync(page, saved);
  await expect.poll(() => urls.length, { timeout: 30_000 }).toBe(2);
  expect(await answers()).toContain("Saved");

  const processes = descendantsOf(dev.pid as number);
  process.kill(-(dev.pid as number), "SIGINT");
  await ended;
  await expect.poll(() => stillRunning(processes), { timeout: 10_000 }).toEqual([]);
}, 90_000);
