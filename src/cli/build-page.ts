import { execFile } from "node:child_process";
import { glob, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
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
 * In a checkout, builds the page if it is missing or older than its sources, in a process of its own. A build that fails is logged, and leaves
 * the server with the page that it had. Never rejects.
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
    if (await isPageStale()) {
      await promisify(execFile)(process.execPath, [builder], { cwd: root, signal });
      log.info({ ms: Math.round(performance.now() - begun) }, "the page was built");
    }
  } catch (error) {
    if (!signal.aborted) {
      log.warn({ error: reasonOf(error) }, "the page could not be built; `npm run build:page` shows why");
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

/** The line in which Rolldown says what is wrong with a source, or Node what was thrown. */
function reasonOf(error: unknown): string {
  const { message, stderr = "" } = error as Error & { readonly stderr?: string };
  const lines = stripVTControlCharacters(stderr).split("\n");
  return lines.find((line) => /^(\[[A-Z_]+\] |\w*Error\b)/.test(line)) ?? message;
}
