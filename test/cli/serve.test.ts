import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test, vi } from "vitest";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { serve } from "../support/served.ts";
import { runKibitz } from "./run-kibitz.ts";

async function ask(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${url}/v1/eval`, { method: "POST", headers, body: JSON.stringify(body) });
}

const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s finishes what is under way, ends the engines and exits with 0",
  async (signal) => {
    const { pid, url, stop } = await serve({}, { args: [] });
    const asked = ask(url, { fen: start, depth: 30, movetime_ms: 1500 });
    await vi.waitFor(() => expect(descendantsOf(pid)).not.toEqual([]));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const engines = descendantsOf(pid);
    const stopped = stop(signal);
    expect((await asked).status).toBe(200);
    expect(await stopped).toBe(0);
    await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]));
  },
);

test.each([
  ["SIGINT", "SIGINT"],
  ["SIGTERM", "SIGINT"],
] as const)("after %s a second signal stops at once, and leaves no engine behind", async (first, second) => {
  const { pid, url, stop } = await serve({}, { args: [] });
  const asked = ask(url, { fen: start, depth: 30, movetime_ms: 30_000 }).catch((error: Error) => error);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const engines = descendantsOf(pid);
  void stop(first);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await stop(second)).not.toBe(0);
  expect(await asked).toBeInstanceOf(Error);
  await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), 5000);
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
  [{ KIBITZ_PLANS: "/dev/zero" }, "KIBITZ_PLANS: /dev/zero cannot be read: it is not a file"],
  [{ KIBITZ_PROT: "80" }, "unknown setting KIBITZ_PROT; did you mean KIBITZ_PORT?"],
  [{ KIBITZ_HOST: "192.0.2.1" }, "EADDRNOTAVAIL: address not available 192.0.2.1). KIBITZ_HOST must be"],
  [{ KIBITZ_DEFAULT_ENGINE: "stockfish-3" }, "the available engines are: stockfish-19, stockfish-19-lite"],
])("a setting that cannot be used ends the start with a clear message: %o", async (env, message) => {
  const { code, stderr } = await runKibitz(["serve"], env as unknown as Record<string, string>);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});
