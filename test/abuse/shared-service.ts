import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { startServer } from "../support/start-server.ts";
import { serviceSettings } from "./service-settings.ts";

/** The service that many test files share, because a start and a stop for each file would take longer than its tests. */
export interface SharedService {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The folder of the service's database, which is also its working directory. */
  readonly folder: string;
  /** The path of the file with all lines of the service's log. */
  readonly logFile: string;
}

declare module "vitest" {
  interface ProvidedContext {
    readonly sharedService: SharedService;
  }
}

/**
 * Starts the shared service for the whole run. Throws if the service does not exit with 0 at the end, leaves an engine behind, or
 * has printed a warning of Node.
 */
export default async function startSharedService(project: TestProject): Promise<() => Promise<void>> {
  const parent = mkdtempSync(join(tmpdir(), "kibitz-abuse-"));
  // Engines in it run as another user where the tests run as root.
  chmodSync(parent, 0o755);
  const folder = join(parent, "data");
  mkdirSync(folder);
  const logFile = join(parent, "log");
  appendFileSync(logFile, "");
  const server = await startServer(
    {
      ...serviceSettings,
      KIBITZ_NATIVE_ENGINES: nativeStockfish() ?? "none",
      // The host that raw requests name: agents are answered at known ones only.
      KIBITZ_ALLOWED_HOSTS: "x",
      KIBITZ_DATA_DIR: folder,
    },
    { cwd: folder, onLog: (line) => appendFileSync(logFile, `${line}\n`) },
  );
  const { url, port, pid } = server;
  project.provide("sharedService", { url, port, pid, folder, logFile });
  return async () => {
    const engines = descendantsOf(pid);
    const code = await server.stop();
    const left = stillRunning(engines);
    rmSync(parent, { recursive: true, force: true });
    if (code !== 0 || left.length > 0 || server.complaints.length > 0) {
      throw new Error(
        `the shared service ended with ${code}, left ${left.length} engines, and complained: ${server.complaints.join("\n")}`,
      );
    }
  };
}
