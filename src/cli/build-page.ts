import { spawn } from "node:child_process";
import { glob, stat } from "node:fs/promises";
import { setPriority } from "node:os";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { Log } from "../log/log.ts";

/** The checkout. An installed package has the page built, and no builder. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const builder = "tools/build-page.ts";

/** The files that the page is built from. Folders count too: only they change when a file is deleted. */
export const sources = [
  ...["web", "web/**", "package-lock.json", builder],
  // The page's imports from the service, and all imports of those.
  ...["gen/**", "src/{calls/plain,chess,errors,game,protocols/json,text}/**"],
];

/**
 * In a checkout, builds the page if it is missing or older than its sources, in a process with low priority. A build that fails is logged,
 * and leaves the server with the page that it had. Never rejects.
 *
 * @param signal ends a build that is under way
 */
export async function buildPageIfStale(
  log: Pick<Log, "info" | "warn">,
  signal: AbortSignal,
  isPageStale = isStale,
): Promise<void> {
  const begun = performance.now();
  try {
    if (!(await isPageStale())) {
      return;
    }
    const complaint = await build(signal);
    if (complaint !== undefined) {
      throw new Error(complaint);
    }
    log.info({ ms: Math.round(performance.now() - begun) }, "the page was built");
  } catch (error) {
    if (!signal.aborted) {
      log.warn(
        { error: error instanceof Error ? error.message : String(error) },
        "the page could not be built; `npm run build:page` shows why",
      );
    }
  }
}

async function isStale(): Promise<boolean> {
  if ((await timeOf(builder)) === 0) {
    return false;
  }
  const files = await Array.fromAsync(glob([...sources], { cwd: root }));
  const times = await Promise.all(files.map(timeOf));
  return Math.max(...times) >= (await timeOf("dist/web/index.html"));
}

/** In milliseconds; 0 if there is no such file. */
async function timeOf(path: string): Promise<number> {
  return (await stat(`${root}/${path}`).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
}

/** The first line of the error; undefined if the page was built. */
async function build(signal: AbortSignal): Promise<string | undefined> {
  const child = spawn(process.execPath, [builder], {
    cwd: root,
    signal,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<Error | number | null>((resolve) => {
    child.once("error", resolve).once("close", resolve);
  });
  try {
    setPriority(child.pid ?? 0, 10);
  } catch {
    // The process has ended already, or keeps its priority: the page gets built nevertheless.
  }
  const said = await text(child.stderr);
  const end = await ended;
  if (end === 0) {
    return undefined;
  }
  const lines = stripVTControlCharacters(said).split("\n").filter(Boolean);
  // Rolldown's line about what it met, or Node's about what it threw.
  return lines.find((line) => /^(\[[A-Z_]+\] |\w*Error\b)/.test(line)) ?? lines[0] ?? String(end);
}
