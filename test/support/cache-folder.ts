import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Returns the folder that keeps an installed test tool between runs and checkouts: `${KIBITZ_CACHE:-~/.cache/kibitz}/<tool>/<key>`.
 *
 * @param key a version or a digest of everything that the tool is made from, so that a new version has a folder of its own
 */
export function cacheFolder(tool: string, key = ""): string {
  return join(process.env.KIBITZ_CACHE || join(homedir(), ".cache/kibitz"), tool, key);
}

/** The first 12 hex digits of the SHA-256 of what these files contain. */
export function digestOfFiles(...paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    hash.update(readFileSync(path));
  }
  return hash.digest("hex").slice(0, 12);
}
