import { execFileSync } from "node:child_process";
import { openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { get, post } from "../../contract/protocols/post.ts";
import { testWith } from "../../support/needs.ts";
import { patienceMs } from "../../support/patience.ts";
import { serve } from "../../support/served.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

async function serveInto(file: string) {
  const server = await serve({}, { stdout: openSync(file, "a") });
  const ask = async (depth: number) => (await post(`${server.url}/v1/eval`, { fen: startFen, depth })).status;
  return { ...server, ask };
}

test("a server whose log cannot be written answers requests and stops with exit code 0", async () => {
  const { url, ask, stop } = await serveInto("/dev/full");
  for (const depth of [2, 3, 4]) {
    expect(await ask(depth)).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  expect((await get(`${url}/healthz`)).status).toBe(200);
  expect(await stop()).toBe(0);
});

testWith("util-linux")(
  "log lines that did not fit on the disk are written when space is free again",
  async () => {
    const file = join(folder, "log");
    const { pid, ask } = await serveInto(file);
    expect(await ask(2)).toBe(200);
    const callsLogged = () =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line.includes('"call"')).length;
    await vi.waitFor(() => expect(callsLogged()).toBe(1), patienceMs);
    execFileSync("prlimit", ["--pid", String(pid), `--fsize=${statSync(file).size}:unlimited`]);
    expect(await ask(3)).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await ask(4)).toBe(200);
    expect(callsLogged()).toBe(1);
    execFileSync("prlimit", ["--pid", String(pid), "--fsize=unlimited:unlimited"]);
    await vi.waitFor(() => expect(callsLogged()).toBe(3), patienceMs);
  },
);
