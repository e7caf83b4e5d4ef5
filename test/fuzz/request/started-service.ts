import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { descendantsOf, stillRunning } from "../../engine/processes.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { startServer } from "../../support/start-server.ts";

export interface StartedService {
  readonly url: string;
  readonly port: number;
  /** Returns the new errors and engine failures in the log since the last call. */
  takeComplaints(): readonly string[];
  /** Returns the process ids of the running engines. */
  engines(): readonly number[];
  /** Returns the highest memory use of the server process in bytes. Engines are not included. */
  peakBytes(): number;
  /**
   * Stops the server. Throws if the server has already ended, stops too late, exits with an error, or does not end an engine.
   */
  stop(): Promise<void>;
}

/** Returns plans without rate limits. `movetimeMsMax` is the maximum time of a search. */
const plansOf = (movetimeMsMax: number) => ({
  plans: [
    {
      id: "keyless",
      limits: {
        depth_max: 30,
        multipv_max: 10,
        movetime_ms_max: movetimeMsMax,
        concurrent: 1000,
        rates: [{ name: "minute", quota: 1_000_000_000, window_s: 60, unit: "request" }],
      },
    },
  ],
});

export async function startService(
  movetimeMsMax: number,
  env: Readonly<Record<string, string>> = {},
): Promise<StartedService> {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-fuzz-"));
  writeFileSync(join(folder, "plans.json"), JSON.stringify(plansOf(movetimeMsMax)));
  const complaints: string[] = [];
  const server = await startServer(
    {
      ...quickestSettings,
      KIBITZ_ACCESS: "public",
      KIBITZ_SLOTS: "2",
      // A small cache, because a growing cache would look like a memory leak.
      KIBITZ_CACHE_MB: "2",
      KIBITZ_PLANS: join(folder, "plans.json"),
      KIBITZ_DATA_DIR: folder,
      ...env,
    },
    {
      onLog(line) {
        if (!isHarmless(line)) {
          complaints.push(line);
        }
      },
    },
  );
  const { url, port, pid } = server;
  void server.ended.then((code) => complaints.push(`ended: ${code}`));
  return {
    url,
    port,
    takeComplaints: () => [...complaints.splice(0), ...server.complaints.splice(0)],
    engines: () => descendantsOf(pid),
    peakBytes: () => peakBytesOf(pid),
    async stop() {
      const engines = descendantsOf(pid);
      if (!server.isRunning()) {
        throw new Error(`the service has ended: ${await server.ended}; ${complaints.join("\n")}`);
      }
      const code = await server.stop();
      rmSync(folder, { recursive: true, force: true });
      const left = stillRunning(engines);
      if (code !== 0 || left.length > 0) {
        throw new Error(`the service ended with ${code} and left ${left.length} engines`);
      }
    },
  };
}

/** Returns true for log lines that an invalid request may cause. */
function isHarmless(line: string): boolean {
  return /^\{"level":(30|40)/.test(line) && !/"msg":"(engine failed|search tried again)/.test(line);
}

function peakBytesOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
}
