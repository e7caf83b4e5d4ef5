import { unlink } from "node:fs/promises";
import { basename } from "node:path";
import { findInstalled } from "../../engine/backends/native/install-folders.ts";
import { digestOf } from "../../engine/file-integrity.ts";
import { echo } from "../../text/echo.ts";
import type { Config } from "../../wiring/settings.ts";
import { UsageError } from "../command.ts";
import type { InstalledEngine } from "./install.ts";
import { foldersOf } from "./install-folder.ts";

export async function installedEngines(config: Config): Promise<readonly InstalledEngine[]> {
  const files = await findInstalled(foldersOf(config));
  return Promise.all(
    files.map(async (path) => {
      const id = basename(path);
      return { id, version: versionIn(id), path, sha256: await digestOf([path]) };
    }),
  );
}

/** The id of an engine is its family, its version, and `lite` for a small network. */
function versionIn(id: string): string {
  return id.replace(/^[^-]*-/, "").replace(/-lite$/, "");
}

/** Returns the files that were deleted. */
export async function removeInstalled(id: string, config: Config): Promise<readonly string[]> {
  const installed = await findInstalled(foldersOf(config));
  const files = installed.filter((path) => basename(path) === id);
  if (files.length === 0) {
    const ids = [...new Set(installed.map((path) => basename(path)))].join(", ");
    throw new UsageError(`${echo(id)} is not installed; installed: ${ids || "no engine"}`);
  }
  const deleted: string[] = [];
  for (const file of files) {
    try {
      await unlink(file);
      deleted.push(file);
    } catch (error) {
      throw new Error(
        `${file} cannot be deleted (${(error as NodeJS.ErrnoException).code}): run the command as its owner`,
      );
    }
  }
  return deleted;
}
