import { execFile } from "node:child_process";
import { glob, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
import type { Log } from "../log/log.ts";

/** The folder of the checkout. An installed package has the built page, and no builder. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const builder = "tools/build-page.ts";

/** The sources of the page. Folders count too, because only a folder changes when a file is deleted. */
export const sources = [
  ...["web", "web/**", "package-lock.json", builder],
  // The modules of the service that the page imports, and all their imports.
  ...["gen/**", "src/{calls/plain,chess,errors,game,protocols/json,text}/**"],
];

/** Builds a missing or stale page in its own process. Logs a failure; the server keeps its old page. Never rejects. */
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

/** Returns the time at which a file was modified, in milliseconds; 0 if there is no such file. */
async function timeOf(path: string): Promise<number> {
  return (await stat(`${root}/${path}`).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
}

/** Returns the line in which Rolldown explains an error in a source, or in which Node prints an error. */
function reasonOf(error: unknown): string {
  const { message, stderr = "" } = error as Error & { readonly stderr?: string };
  const lines = stripVTControlCharacters(stderr).split("\n");
  return lines.find((line) => /^(\[[A-Z_]+\] |\w*Error\b)/.test(line)) ?? message;
}
