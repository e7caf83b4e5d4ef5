import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { get, post } from "../../contract/protocols/post.ts";
import { enginesRunning, stillRunning } from "../../engine/processes.ts";
import { writeScript } from "../../engine/write-script.ts";
import { fakeEngineCommandIn } from "../../support/fake-engine/index.ts";
import { patienceMs } from "../../support/patience.ts";
import { useApp } from "../../support/running-app.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const fakeEngineCommand = fakeEngineCommandIn(folder);
const write = (text = fakeEngineCommand) => writeScript(text, "fake", folder);
const file = write();
const app = useApp({ KIBITZ_NATIVE_ENGINES: file, KIBITZ_SLOTS: "2", KIBITZ_CACHE_MB: "0" });

const evaluate = (engine: string) => post(`${app.url}/v1/eval`, { fen: startFen, depth: 4, engine });
const statusOf = async (engine: string) => (await evaluate(engine)).status;
const errorsLogged = () =>
  app.logged.flatMap((line) => ("error" in line ? [String((line as { error: unknown }).error)] : []));

/** Kills all running engines. The server restarts the default engine immediately. */
async function killAll(): Promise<void> {
  const running = enginesRunning();
  for (const pid of running) {
    process.kill(pid, "SIGKILL");
  }
  await expect.poll(() => stillRunning(running), { timeout: patienceMs }).toEqual([]);
}

beforeEach(() => void write());
afterEach(async () => {
  write();
  // The server retries a failed start within this time.
  await expect.poll(() => statusOf("fake-1.0"), { timeout: 40_000 }).toBe(200);
});

const isAvailable = async () => {
  const { status, body } = await get(`${app.url}/engines`);
  expect(status).toBe(200);
  const engines = body.engines as { id: string; paths: { available: boolean }[] }[];
  return engines.find(({ id }) => id === "fake-1.0")?.paths.map(({ available }) => available);
};

describe("an engine's file", () => {
  // Must be the first test: the engine has not run since the server found it.
  test("an engine whose file is missing is listed as unavailable after its first search, and as available when the file is back", async () => {
    rmSync(file);
    expect(await isAvailable()).toEqual([true]);
    const refused = await evaluate("fake-1.0");
    expect([refused.status, refused.body]).toMatchObject([
      503,
      { code: "starting", next_action: "retry_later" },
    ]);
    expect(await isAvailable()).toEqual([false]);
    write();
    await expect.poll(isAvailable, { timeout: 40_000 }).toEqual([true]);
  });

  test("an engine keeps running when its file is deleted; after the engine dies, requests get 503 with Retry-After", async () => {
    expect(await statusOf("fake-1.0")).toBe(200);
    rmSync(file);
    expect(await statusOf("fake-1.0")).toBe(200);
    await killAll();
    const { status, headers, body } = await evaluate("fake-1.0");
    expect([status, body]).toMatchObject([503, { code: "starting", next_action: "retry_later" }]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    // The start failed because of the missing file, not because of the timeout for starts (15 s).
    expect(errorsLogged().some((error) => /file is gone.*ENOENT/.test(error))).toBe(true);
    expect(await statusOf("stockfish-19-lite")).toBe(200);
    expect((await get(`${app.url}/engines`)).status).toBe(200);
  });

  test("a replaced engine file is not started, and the log says that the file was replaced", async () => {
    expect(await statusOf("fake-1.0")).toBe(200);
    const trace = join(folder, "was run");
    rmSync(file);
    write(`touch "${trace}"\n${fakeEngineCommand}`);
    // The engine that was already running continues to answer.
    expect(await statusOf("fake-1.0")).toBe(200);
    await killAll();
    expect([(await evaluate("fake-1.0")).status, (await evaluate("fake-1.0")).body.code]).toEqual([
      503,
      "starting",
    ]);
    expect(await statusOf("stockfish-19-lite")).toBe(200);
    expect(existsSync(trace)).toBe(false);
    expect(errorsLogged().some((error) => error.includes("replaced since this server was started"))).toBe(
      true,
    );
  });
});
