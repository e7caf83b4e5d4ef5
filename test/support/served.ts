import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { quickestSettings } from "./quickest-settings.ts";
import { type Server, type ServerOptions, startServer } from "./start-server.ts";

export interface Served extends Server {
  readonly logged: readonly LogLine[];
}

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export const logLevel = { info: 30, warn: 40, error: 50 } as const;

/** Starts a server and resolves when it is ready. The server and its data are removed after the test. */
export async function serve(
  env: Readonly<Record<string, string>> = {},
  options: Omit<ServerOptions, "onLog"> = {},
): Promise<Served> {
  const logged: LogLine[] = [];
  const onLog = (line: string) => void logged.push(JSON.parse(line));
  const dataDir = mkdtempSync(join(tmpdir(), "kibitz-test-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const settings = { ...quickestSettings, KIBITZ_DATA_DIR: dataDir, ...env };
  const server = await startServer(settings, { ...options, onLog });
  // Registered last, so the server stops before its data is removed.
  onTestFinished(async () => void (await server.stop("SIGKILL")));
  return { ...server, logged };
}
