import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { startFen } from "../contract/doors/cases/case.ts";
import { get, post } from "../contract/doors/post.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

/** A server whose log goes into a file. */
async function serveInto(file: string) {
  const port = await freePort();
  const child = spawn(process.execPath, [main, "serve"], {
    env: {
      KIBITZ_PORT: String(port),
      KIBITZ_ACCESS: "open",
      KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
      KIBITZ_NATIVE_ENGINES: "",
      KIBITZ_DATA_DIR: folder,
    },
    stdio: ["ignore", openSync(file, "a"), "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  const patience = { timeout: 20_000, interval: 100 };
  await vi.waitFor(async () => expect((await get(`${url}/readyz`)).status).toBe(200), patience);
  const ask = async (depth: number) => (await post(`${url}/v1/eval`, { fen: startFen, depth })).status;
  return { child, url, ask };
}

test("a log that cannot be written at all costs nobody an answer, and the server ends as ever", async () => {
  const { child, url, ask } = await serveInto("/dev/full");
  for (const depth of [2, 3, 4]) {
    expect(await ask(depth)).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  expect((await get(`${url}/healthz`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await once(child, "exit")).toEqual([0, null]);
});

test("lines that there was no room for are written when there is", async () => {
  const file = join(folder, "log");
  const { child, ask } = await serveInto(file);
  expect(await ask(2)).toBe(200);
  const callsLogged = () =>
    readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.includes('"call"')).length;
  await vi.waitFor(() => expect(callsLogged()).toBe(1));
  execFileSync("prlimit", ["--pid", String(child.pid), `--fsize=${statSync(file).size}:unlimited`]);
  expect(await ask(3)).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await ask(4)).toBe(200);
  expect(callsLogged()).toBe(1);
  execFileSync("prlimit", ["--pid", String(child.pid), "--fsize=unlimited:unlimited"]);
  await vi.waitFor(() => expect(callsLogged()).toBe(3), 5000);
});
