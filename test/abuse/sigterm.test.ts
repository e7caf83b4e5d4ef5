import { connect as connectHttp2 } from "node:http2";
import { text } from "node:stream/consumers";
import { describe, expect, test, vi } from "vitest";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { open } from "../support/raw-http.ts";
import { startKibitz } from "../support/start-kibitz.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { expectOrderlyStop } from "./orderly-stop.ts";
import { startFen, useService } from "./started-service.ts";

const env = { ...quickestSettings, KIBITZ_DATA_DIR: useTemporaryFolder() };
/** An engine may finish its search before it exits. */
const engineGoneMaxMs = 10_000;
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe("28: SIGTERM under load", () => {
  const service = useService({ KIBITZ_QUEUE_MAX_WAIT_MS: "600000" });

  test("after SIGTERM the service finishes its calls, refuses new calls, and exits with 0 without leaving an engine running", async () => {
    const idle = connectHttp2(service.url);
    idle.on("error", () => {});
    const silent = await open(service.port);
    await expectOrderlyStop(service);
    silent.socket.destroy();
    idle.destroy();
  });
});

test.each([0, 50, 150, 300, 600])(
  "a SIGTERM that is sent %i ms after the start stops the service and its engines",
  async (ms) => {
    const { pid, stderr, ended, stop } = startKibitz(["serve"], env);
    const complaints = text(stderr);
    await sleep(ms);
    const engines = descendantsOf(pid);
    process.kill(pid, "SIGTERM");
    // A stop that waits for a timeout would take at least 15 s.
    expect(await Promise.race([ended.then(() => "ended"), sleep(10_000)])).toBe("ended");
    await stop("SIGKILL");
    expect(await complaints).toBe("");
    await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), engineGoneMaxMs);
  },
);

describe("28: SIGKILL", () => {
  const service = useService();

  test("if the service is killed with SIGKILL, no engine continues its search", async () => {
    void service.post("/v1/eval", { fen: startFen, depth: 30, movetime_ms: 60_000 }).catch(() => {});
    await sleep(300);
    const engines = service.engines();
    expect(engines).not.toEqual([]);
    await service.stop("SIGKILL");
    await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), engineGoneMaxMs);
  });
});
