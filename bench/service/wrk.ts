import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Loaded, readLoaded } from "./loaded.ts";
import type { Load } from "./peer.ts";

const run = promisify(execFile);
const script = fileURLToPath(new URL("questions.lua", import.meta.url));

interface WrkLoad extends Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export async function lackOfWrk(): Promise<string | undefined> {
  // Ignore the exit code, because wrk exits with 1 even after `--version`.
  const missing = await run("wrk", ["--version"]).then(
    () => false,
    (error) => error.code === "ENOENT",
  );
  return missing ? "no wrk, which makes the load (Debian: apt-get install wrk)" : undefined;
}

/** Throws Error if a request failed. If `repeats` is false, also throws Error for a repeated position. */
export async function loadByWrk(load: WrkLoad): Promise<Loaded> {
  const headers = Object.entries({ "content-type": "application/json", ...load.headers });
  const { stdout } = await run("wrk", [
    "--threads=1",
    `--connections=${load.callers}`,
    `--duration=${load.seconds}s`,
    // Wait longer than the default of wrk, because a request may wait in the queue.
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
