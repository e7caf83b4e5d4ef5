import { onTestFinished } from "vitest";
import { quickestSettings } from "./quickest-settings.ts";
import { type Server, type ServerOptions, startServer } from "./start-server.ts";
import { useTemporaryFolder } from "./temporary-folder.ts";

/** A server of one test. */
export interface Served extends Server {
  /** What it has logged so far. */
  readonly logged: readonly LogLine[];
}

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The levels of the log, as pino numbers them. */
export const logLevel = { info: 30, warn: 40, error: 50 } as const;

const dataDir = useTemporaryFolder();

/** Resolves when it is ready. It is gone after the test. */
export async function serve(
  env: Readonly<Record<string, string>> = {},
  options: Omit<ServerOptions, "onLog"> = {},
): Promise<Served> {
  const logged: LogLine[] = [];
  const onLog = (line: string) => void logged.push(JSON.parse(line));
  const settings = { ...quickestSettings, KIBITZ_DATA_DIR: dataDir, ...env };
  const server = await startServer(settings, { ...options, onLog });
  onTestFinished(() => void server.stop("SIGKILL"));
  return { ...server, logged };
}
