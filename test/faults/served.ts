import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { startKibitz } from "../cli/run-kibitz.ts";

/** A server in a process of its own, for faults that befall a process. */
export interface Served {
  readonly url: string;
  readonly pid: number;
  /** What it has logged so far. */
  readonly logged: readonly LogLine[];
  /** Asks it to stop; resolves with its exit code when it has. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The levels of the log, as pino numbers them. */
export const logLevel = { info: 30, warn: 40, error: 50 } as const;

/** Resolves when it is ready. It is gone after the test. */
export async function serve(env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const { child, finished } = startKibitz(["serve"], env);
  onTestFinished(() => void child.kill("SIGKILL"));
  const logged: LogLine[] = [];
  const ready = Promise.withResolvers<string>();
  createInterface(child.stdout).on("line", (line) => {
    const fields = JSON.parse(line) as LogLine;
    logged.push(fields);
    if (typeof fields.url === "string") {
      ready.resolve(fields.url);
    }
  });
  finished.then(({ code, stderr }) => ready.reject(new Error(`ended with ${code}: ${stderr}`)));
  return {
    url: await ready.promise,
    pid: child.pid ?? 0,
    logged,
    async stop(signal = "SIGTERM") {
      child.kill(signal);
      return (await finished).code;
    },
  };
}
