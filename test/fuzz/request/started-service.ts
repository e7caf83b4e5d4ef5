import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { descendantsOf, stillRunning } from "../../engine/processes.ts";

/** A server in a process of its own: what hangs or ends it does not take the test with it. */
export interface StartedService {
  readonly url: string;
  readonly port: number;
  /** Errors in its log, and engines that failed, since this was asked last. */
  takeComplaints(): readonly string[];
  /** Its engines that run now. */
  engines(): readonly number[];
  /** Bytes; `undefined` where the system does not tell. */
  memoryBytes(): number | undefined;
  /** Throws if it has ended of itself, did not end in time, ended badly, or left an engine behind. */
  stop(): Promise<void>;
}

const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url));
const stopMaxMs = 20_000;

/** Everybody may ask for anything, and nobody waits: a search that nothing else ends is over after this time. */
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
  const child = spawn(process.execPath, [main, "serve"], {
    env: {
      KIBITZ_PORT: "0",
      KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
      KIBITZ_NATIVE_ENGINES: "",
      KIBITZ_SLOTS: "2",
      // What is kept grows until it is full, and would look like a leak.
      KIBITZ_CACHE_ENTRIES: "1000",
      KIBITZ_PLANS: join(folder, "plans.json"),
      KIBITZ_DATA_DIR: folder,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const complaints: string[] = [];
  const url = await readyUrl(child, complaints);
  const pid = child.pid ?? 0;
  return {
    url,
    port: Number(new URL(url).port),
    takeComplaints: () => complaints.splice(0),
    engines: () => descendantsOf(pid),
    memoryBytes: () => residentBytes(pid),
    async stop() {
      const engines = descendantsOf(pid);
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(
          `the service has ended: ${child.exitCode ?? child.signalCode}; ${complaints.join("\n")}`,
        );
      }
      const ended = once(child, "exit", { signal: AbortSignal.timeout(stopMaxMs) });
      child.kill("SIGTERM");
      const [code] = await ended;
      rmSync(folder, { recursive: true, force: true });
      const left = stillRunning(engines);
      if (code !== 0 || left.length > 0) {
        throw new Error(`the service ended with ${code} and left ${left.length} engines`);
      }
    },
  };
}

/** Goes on listening to the log when it is ready. */
function readyUrl(child: ChildProcess, complaints: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    child.on("exit", (code, signal) => {
      complaints.push(`ended: ${code ?? signal}`);
      reject(new Error(`the service did not start: ${complaints.join("\n")}`));
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) {
        continue;
      }
      createInterface({ input: stream }).on("line", (line) => {
        const harmless =
          /^\{"level":(30|40)/.test(line) && !/"msg":"(engine failed|search tried again)/.test(line);
        if (!harmless) {
          complaints.push(line);
        } else if (line.includes('"msg":"ready')) {
          resolve((JSON.parse(line) as { url: string }).url);
        }
      });
    }
  });
}

function residentBytes(pid: number): number | undefined {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]);
    return pages * 4096;
  } catch {
    return undefined;
  }
}
