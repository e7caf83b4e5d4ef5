import { stat, unlink } from "node:fs/promises";
import { basename } from "node:path";
import { findInstalled } from "../../engine/backends/native/install-folders.ts";
import { digestOf } from "../../engine/file-integrity.ts";
import { echo } from "../../text/echo.ts";
import type { Config } from "../../wiring/settings.ts";
import { UsageError } from "../command.ts";
import type { InstalledEngine } from "./install.ts";
import { foldersOf } from "./install-folder.ts";

/** A file that cannot be read is listed without a digest, so that the user sees what to remove. */
export type ListedEngine = Omit<InstalledEngine, "sha256"> & { readonly sha256: string | undefined };

export async function installedEngines(config: Config): Promise<readonly ListedEngine[]> {
  const files = await findInstalled(foldersOf(config));
  return Promise.all(
    files.map(async (path) => {
      const id = basename(path);
      return { id, version: versionIn(id), path, sha256: await digestOfFile(path).catch(() => undefined) };
    }),
  );
}

/** Checks the kind of the file before opening it, because opening a pipe without a writer never ends. */
async function digestOfFile(path: string): Promise<string | undefined> {
  return (await stat(path)).isFile() ? digestOf([path]) : undefined;
}

/** The id of an engine is its family, its version, and `lite` for a small network. */
function versionIn(id: string): string {
  return id.replace(/^[^-]*-/, "").replace(/-lite$/, "");
}

/** Returns each file after it was deleted. */
export async function* removeInstalled(id: string, config: Config): AsyncIterable<string> {
  const installed = await findInstalled(foldersOf(config));
  const files = installed.filter((path) => basename(path) === id);
  if (files.length === 0) {
    const ids = [...new Set(installed.map((path) => basename(path)))].join(", ");
    throw new UsageError(`${echo(id)} is not installed; installed: ${ids || "no engine"}`);
  }
  for (const file of files) {
    await unlink(file).catch((error: NodeJS.ErrnoException) => {
      throw new Error(`${file} cannot be deleted (${error.code})${adviceOn(error)}`);
    });
    yield file;
  }
}

function adviceOn({ code }: NodeJS.ErrnoException): string {
  return code === "EACCES" || code === "EPERM" ? ": run the command as its owner" : "";
}
