import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test, vi } from "vitest";
import { exitCode } from "../../src/cli/command.ts";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { freePort } from "../support/free-port.ts";
import { patienceMs } from "../support/patience.ts";
import { serve } from "../support/served.ts";
import { runKibitz } from "./run-kibitz.ts";

/**
 * Starts a search over a stream. Resolves after the first event. `rest` resolves with the other events, or with the error that
 * broke the connection.
 */
async function searchingFor(url: string, movetimeMs: number) {
  const response = await fetch(`${url}/v1/eval/stream`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fen: start, depth: 30, movetime_ms: movetimeMs }),
  });
  const reader = (response.body ?? expect.fail("no body")).pipeThrough(new TextDecoderStream()).getReader();
  const first = await reader.read();
  expect(first.value).toMatch(/^event: /);
  const readRest = async () => {
    const pieces: string[] = [];
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      pieces.push(next.value);
    }
    return pieces.join("");
  };
  return { rest: readRest().catch((error: Error) => error) };
}

const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

test("after SIGTERM kibitz serve finishes running requests, stops its engines and exits with 0", async () => {
  const { pid, url, stop } = await serve({}, { args: [] });
  const { rest } = await searchingFor(url, 1000);
  const engines = descendantsOf(pid);
  expect(engines).not.toEqual([]);
  const stopped = stop("SIGTERM");
  expect(await rest).toMatch(/^event: done$/m);
  expect(await stopped).toBe(0);
  expect(stillRunning(engines)).toEqual([]);
});

test("kibitz serve answers probes on its metrics port, even during the stop", async () => {
  const metricsPort = await freePort();
  const { url, stop } = await serve({ KIBITZ_METRICS_PORT: String(metricsPort) }, { args: [] });
  const probe = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${metricsPort}${path}`);
    return [answer.status, await answer.json()];
  };
  expect(await probe("/healthz")).toEqual([200, { status: "ok" }]);
  expect(await probe("/readyz")).toEqual([200, { status: "ready" }]);
  const { rest } = await searchingFor(url, 5000);
  const stopped = stop("SIGTERM");
  await expect
    .poll(() => probe("/readyz"))
    .toEqual([503, expect.objectContaining({ code: "shutting_down" })]);
  expect(await probe("/healthz")).toEqual([200, { status: "ok" }]);
  expect(await rest).toMatch(/^event: done$/m);
  expect(await stopped).toBe(0);
});

test("kibitz serve stops immediately on SIGHUP after SIGINT, without leaving an engine running", async () => {
  const { pid, url, logged, stop } = await serve({}, { args: [] });
  const { rest } = await searchingFor(url, 30_000);
  const engines = descendantsOf(pid);
  expect(engines).not.toEqual([]);
  void stop("SIGINT");
  await vi.waitFor(
    () => expect(logged.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/^stopping: /)),
    patienceMs,
  );
  expect(await stop("SIGHUP")).toBe(exitCode.interrupted);
  expect(await rest).toBeInstanceOf(Error);
  await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), patienceMs);
});

test.each([
  ["KIBITZ_PORT", /EADDRINUSE.*\. KIBITZ_PORT=0 picks a free port\.$/m],
  ["KIBITZ_METRICS_PORT", /EADDRINUSE.*\. KIBITZ_METRICS_PORT=0 turns metrics off\.$/m],
])(
  "kibitz serve exits with a message if the port in %s is in use, without leaving an engine running",
  async (setting, message) => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const before = descendantsOf(process.pid);
    const { code, stderr } = await runKibitz(["serve"], {
      [setting]: String(port),
      KIBITZ_LOG_LEVEL: "silent",
    });
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(descendantsOf(process.pid)).toEqual(before);
  },
);

test("kibitz serve reports an unreadable file of plans together with other invalid settings, before opening a port", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  const plans = { KIBITZ_PLANS: "/nonexistent/plans.json", KIBITZ_PORT: String(port) };
  const { code, stderr } = await runKibitz(["serve"], plans);
  const withMore = await runKibitz(["serve"], { ...plans, KIBITZ_HASH_MB: "much" });
  taken.close();
  expect(code).toBe(1);
  expect(stderr).toMatch(/^kibitz: KIBITZ_PLANS: \/nonexistent\/plans\.json cannot be read: ENOENT.*\n$/);
  // The log is JSON, so a collector finds the error as the last line of the log.
  const { time: _, ...line } = JSON.parse(withMore.stdout.trim().split("\n").at(-1) ?? "");
  const error = expect.stringMatching(/^KIBITZ_HASH_MB is "much".*\nKIBITZ_PLANS: .*ENOENT/);
  expect(line).toEqual({ level: 60, error, msg: "the service has ended" });
  expect(withMore.stderr).toMatch(/^kibitz: KIBITZ_HASH_MB is "much".*\nkibitz: KIBITZ_PLANS: .*ENOENT.*\n$/);
});

test("kibitz serve --help shows that a setting without a default is unset", async () => {
  const { stdout } = await runKibitz(["serve", "--help"]);
  expect(stdout).toMatch(/^ +KIBITZ_REDIS_URL=\(unset\) +Redis or Valkey/m);
  expect(stdout).toMatch(/^ +KIBITZ_HASH_MB=4 +MiB/m);
  expect(stdout).not.toMatch(/^ *KIBITZ_\w+= /m);
});

test.each([
  [{ KIBITZ_DATA_DIR: "package.json/data" }, "Name a folder that Kibitz may write to"],
  [{ KIBITZ_PLANS: "/dev/zero" }, "KIBITZ_PLANS: /dev/zero cannot be read: it is not a file"],
  [{ KIBITZ_HOST: "192.0.2.1" }, "EADDRNOTAVAIL: address not available 192.0.2.1). KIBITZ_HOST must be"],
  [{ KIBITZ_DEFAULT_ENGINE: "stockfish-3" }, "the available engines are: stockfish-19, stockfish-19-lite"],
])("kibitz serve exits with a message if a setting cannot be used: %o", async (env, message) => {
  const { code, stderr } = await runKibitz(["serve"], env as unknown as Record<string, string>);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});
