import { execFile } from "node:child_process";
import { glob, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
import type { Log } from "../log/log.ts";
import { now } from "../time/time.ts";

/** The root of the repository. An installed npm package contains the built page, but not the script that builds the page. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const builder = "tools/build-page.ts";

/** Includes folders: if a file is deleted, only the modification time of its folder changes. */
export const sources = [
  ...["web", "web/**", "package-lock.json", builder],
  ...["gen/**", "src/{calls/plain,chess,errors,game,protocols/json,text}/**", "src/engine/profiles.ts"],
];

/** Builds the page if the page is missing or older than its sources. Never rejects: a failed build keeps the old page. */
export async function buildPageIfStale(
  log: Pick<Log, "info" | "warn">,
  signal: AbortSignal,
  isPageStale = isStale,
): Promise<void> {
  const begun = now();
  try {
    if (await isPageStale()) {
      await promisify(execFile)(process.execPath, [builder], { cwd: root, signal });
      log.info({ ms: Math.round(now() - begun) }, "the page was built");
    }
  } catch (error) {
    if (!signal.aborted) {
      log.warn(
        { error: reasonOf(error) },
        "the page could not be built; `node tools/build-page.ts` shows why",
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

/** Returns the modification time in milliseconds, or 0 if the file does not exist. */
async function timeOf(path: string): Promise<number> {
  return (await stat(`${root}/${path}`).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
}

function reasonOf(error: unknown): string {
  const { message, stderr = "" } = error as Error & { readonly stderr?: string };
  const lines = stripVTControlCharacters(stderr).split("\n");
  return lines.find((line) => /^(\[[A-Z_]+\] |\w*Error\b)/.test(line)) ?? message;
}
