import { spawn } from "node:child_process";
import { glob, stat } from "node:fs/promises";
import { setPriority } from "node:os";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import type { Log } from "../log/log.ts";

/** Of the checkout. In the package, where the page lies built, there is nothing of all that at this place. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const builder = "tools/build-page.ts";

/** What the page is made of. Folders count: a file that is gone is newer there only. */
export const sources = [
  ...["web", "web/**", "package-lock.json", builder],
  // The page's imports from the service, and all imports of those.
  ...["gen/**", "src/{calls/plain,chess,errors,game,protocols/json,text}/**"],
];

/**
 * In a checkout, builds the page if it is missing or older than its sources, in a process of its own that gives way to others. A
 * build that fails is told in the log, and leaves the server with the page that it had.
 *
 * @param signal ends a build that is under way.
 */
export async function buildPageIfStale(log: Pick<Log, "info" | "warn">, signal: AbortSignal): Promise<void> {
  if (!(await isStale())) {
    return;
  }
  const begun = performance.now();
  const complaint = await build(signal).catch(String);
  if (complaint === undefined) {
    log.info({ ms: Math.round(performance.now() - begun) }, "the page was built");
  } else if (!signal.aborted) {
    log.warn({ error: complaint }, "the page could not be built; `npm run build:page` shows why");
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

/** 0 where there is no such file. */
async function timeOf(path: string): Promise<number> {
  return (await stat(`${root}/${path}`).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
}

/** What went wrong, in a line; undefined if nothing did. */
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
    // It is gone already, or as important as the server: the page gets built all the same.
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
