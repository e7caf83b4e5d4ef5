import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { expect, test, vi } from "vitest";
import { runKibitz, startKibitz } from "./run-kibitz.ts";

/** Starts a server; resolves when its start line says where it listens. */
async function serve(args: readonly string[] = []) {
  const { child, finished } = startKibitz(args);
  for await (const line of createInterface(child.stdout)) {
    const { url } = JSON.parse(line);
    if (url) {
      return { child, finished, url: String(url) };
    }
  }
  throw new Error((await finished).stderr);
}

async function ask(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${url}/v1/eval`, { method: "POST", headers, body: JSON.stringify(body) });
}

const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s finishes what is under way, ends the engines and exits with 0",
  async (signal) => {
    const { child, finished, url } = await serve();
    const asked = ask(url, { fen: start, depth: 30, movetime_ms: 1500 });
    await vi.waitFor(() => expect(childrenOf(child.pid)).not.toEqual([]));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const engines = childrenOf(child.pid);
    child.kill(signal);
    expect((await asked).status).toBe(200);
    expect((await finished).code).toBe(0);
    await vi.waitFor(() => expect(engines.filter(isRunning)).toEqual([]));
  },
);

test("a second signal stops at once, and leaves no engine behind", async () => {
  const { child, url } = await serve();
  const asked = ask(url, { fen: start, depth: 30, movetime_ms: 30_000 }).catch((error: Error) => error);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const engines = childrenOf(child.pid);
  child.kill("SIGINT");
  await new Promise((resolve) => setTimeout(resolve, 300));
  child.kill("SIGINT");
  const [code, signal] = await once(child, "exit");
  expect([code, signal]).not.toEqual([0, null]);
  expect(await asked).toBeInstanceOf(Error);
  await vi.waitFor(() => expect(engines.filter(isRunning)).toEqual([]), 5000);
});

test("a port that is taken ends the start with a clear message", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const { code, stderr } = await runKibitz([], { KIBITZ_PORT: String(port), KIBITZ_LOG_LEVEL: "silent" });
  taken.close();
  expect(code).toBe(1);
  expect(stderr).toMatch(/EADDRINUSE.*\. KIBITZ_PORT=0 picks a free port\.$/m);
});

test.each([
  [{ KIBITZ_PORT: "eighty" }, "KIBITZ_PORT"],
  [{ KIBITZ_PROT: "80" }, "unknown setting KIBITZ_PROT; did you mean KIBITZ_PORT?"],
  [{ KIBITZ_HOST: "192.0.2.1" }, "EADDRNOTAVAIL: address not available 192.0.2.1). KIBITZ_HOST must be"],
  [{ KIBITZ_DEFAULT_ENGINE: "stockfish-3" }, "the available engines are: stockfish-19, stockfish-19-lite"],
])("a setting that cannot be used ends the start with a clear message: %o", async (env, message) => {
  const { code, stderr } = await runKibitz(["serve"], env as unknown as Record<string, string>);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});

/** Processes whose parent this is. */
function childrenOf(pid: number | undefined): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => statOf(other)?.parent === pid);
}

function isRunning(pid: number): boolean {
  const stat = statOf(pid);
  return stat !== undefined && stat.state !== "Z";
}

function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state = "", parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
