import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Returns the cache folder of a test tool: `${KIBITZ_CACHE:-~/.cache/kibitz}/<tool>/<key>`.
 * @param key the version of the tool, or a digest of its sources
 */
export function cacheFolder(tool: string, key = ""): string {
  return join(process.env.KIBITZ_CACHE || join(homedir(), ".cache/kibitz"), tool, key);
}

/** Returns the first 12 hex digits of the SHA-256 of the content of these files. */
export function digestOfFiles(...paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    hash.update(readFileSync(path));
  }
  return hash.digest("hex").slice(0, 12);
}
