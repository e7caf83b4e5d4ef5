import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Copies parts of this checkout into a new folder, and returns the folder. Does not use hard links, because a new link to an
 * engine file makes running servers check the file again.
 */
export function copyCheckout(folder: string, parts: readonly string[]): string {
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  execFileSync("cp", ["-a", "--reflink=auto", "--parents", ...parts, folder], { cwd: here, stdio: "pipe" });
  return folder;
}
