import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { startServer } from "../support/start-server.ts";
import { serviceSettings } from "./service-settings.ts";

/** Many test files share one service, because starting a service for each file would take longer than the tests. */
interface SharedService {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  readonly logFile: string;
}

declare module "vitest" {
  interface ProvidedContext {
    readonly sharedService: SharedService;
  }
}

/**
 * Starts the shared service before all tests. The returned function stops the service, and throws if the exit code is not 0, an
 * engine is still running, or Node has printed a warning.
 */
export default async function startSharedService(project: TestProject): Promise<() => Promise<void>> {
  const parent = mkdtempSync(join(tmpdir(), "kibitz-abuse-"));
  // If the tests run as root, the engines run as another user, which needs access to this folder.
  chmodSync(parent, 0o755);
  const folder = join(parent, "data");
  mkdirSync(folder);
  const logFile = join(parent, "log");
  appendFileSync(logFile, "");
  const server = await startServer(
    {
      ...serviceSettings,
      KIBITZ_NATIVE_ENGINES: nativeStockfish() ?? "none",
      // The requests of `raw-http.ts` have the header `Host: x`. MCP accepts only known hosts.
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
