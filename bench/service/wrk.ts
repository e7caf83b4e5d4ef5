import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Loaded, readLoaded } from "./loaded.ts";
import type { Load } from "./peer.ts";

const run = promisify(execFile);
const script = fileURLToPath(new URL("questions.lua", import.meta.url));

/** Each caller is a connection with one request after the other. */
interface WrkLoad extends Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export async function lackOfWrk(): Promise<string | undefined> {
  // Ignore the exit code, because `wrk` has no option that exits with 0.
  const missing = await run("wrk", ["--version"]).then(
    () => false,
    (error) => error.code === "ENOENT",
  );
  return missing ? "no wrk, which makes the load (Debian: apt-get install wrk)" : undefined;
}

/** @throws Error if a request failed, or if a question that had to be new was asked twice */
export async function loadByWrk(load: WrkLoad): Promise<Loaded> {
  const headers = Object.entries({ "content-type": "application/json", ...load.headers });
  const { stdout } = await run("wrk", [
    "--threads=1",
    `--connections=${load.callers}`,
    `--duration=${load.seconds}s`,
    // `wrk` reports later answers as errors, but a caller may wait in the queue for long.
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
