import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Copies parts of this checkout into a folder, which is created. The files are not hard links, because every running server
 * checks an engine's file again when the file gets one more link.
 * @param parts paths in this checkout
 * @returns the folder
 */
export function copyCheckout(folder: string, parts: readonly string[]): string {
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  execFileSync("cp", ["-a", "--reflink=auto", "--parents", ...parts, folder], { cwd: here, stdio: "pipe" });
  return folder;
}
