import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Loaded, readLoaded } from "./loaded.ts";

const run = promisify(execFile);
const script = fileURLToPath(new URL("questions.lua", import.meta.url));

export interface WrkLoad {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A body a line. */
  readonly file: string;
  /** Connections, each with one request after the other. */
  readonly callers: number;
  readonly seconds: number;
  /** Whether the questions may come again. */
  readonly repeats: boolean;
}

/** Whether `wrk` is here; what to do, where it is not. */
export async function lackOfWrk(): Promise<string | undefined> {
  // It has no option that ends well.
  const missing = await run("wrk", ["--version"]).then(
    () => false,
    (error) => error.code === "ENOENT",
  );
  return missing ? "no wrk, which makes the load (Debian: apt-get install wrk)" : undefined;
}

/**
 * Load by `wrk`, in a process of its own with one thread.
 *
 * @throws Error if a request was not answered with success, or a question came again that should be new.
 */
export async function loadByWrk(load: WrkLoad): Promise<Loaded> {
  const headers = Object.entries({ "content-type": "application/json", ...load.headers });
  const { stdout } = await run("wrk", [
    "--threads=1",
    `--connections=${load.callers}`,
    `--duration=${load.seconds}s`,
    // Only tells what was late: a caller in a line is not.
    "--timeout=120s",
    ...headers.flatMap(([name, value]) => ["--header", `${name}: ${value}`]),
    "--script",
    script,
    load.url,
    "--",
    load.file,
  ]);
  return readLoaded(stdout, load.repeats);
}
