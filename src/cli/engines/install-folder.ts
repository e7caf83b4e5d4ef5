import { existsSync } from "node:fs";
import { chmod, lstat, mkdtemp, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type InstallFolders, installFoldersIn } from "../../engine/backends/native/install-folders.ts";
import { makeFolder } from "../../storage/sqlite/database.ts";
import type { Config } from "../../wiring/settings.ts";

export interface InstallFolder {
  readonly path: string;
  /** True if every user's Kibitz finds the engines in this folder. */
  readonly isCommon: boolean;
}

export const foldersOf = ({ dataHome }: Config): InstallFolders => installFoldersIn(dataHome);

/** Returns the folder for what the current user installs. Throws Error if the user has no home. */
export function folderToInstallInto(
  { own, common }: InstallFolders,
  isRoot = process.getuid?.() === 0,
): InstallFolder {
  if (isRoot) {
    return { path: common, isCommon: true };
  }
  if (own === undefined) {
    throw new Error("this user has no home folder: name a folder for its data in XDG_DATA_HOME");
  }
  return { path: own, isCommon: false };
}

/** Throws if another user can write to the folder, and could therefore replace the engines. */
export async function createInstallFolder({ path, isCommon }: InstallFolder): Promise<void> {
  const common = isCommon ? [dirname(path), path, ...missingAbove(dirname(path))] : [];
  makeFolder(path);
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(
      `${path} is not a folder that only this user can write to; delete it, or change its mode`,
    );
  }
  await Promise.all(common.map((folder) => chmod(folder, 0o755)));
}

/** Returns the folders above `path` that do not exist yet. */
function missingAbove(path: string): readonly string[] {
  const above = dirname(path);
  return existsSync(above) ? [] : [above, ...missingAbove(above)];
}

const unfinished = /^\.unfinished-(\d+)-/;

/** Creates a folder beside the engines, in which this process prepares an engine. */
export async function createUnfinished({ path }: InstallFolder): Promise<AsyncDisposable & { path: string }> {
  const made = await mkdtemp(join(path, `.unfinished-${process.pid}-`));
  // The user of the engines must be able to read the new engine.
  await chmod(made, 0o755);
  return { path: made, [Symbol.asyncDispose]: () => rm(made, { recursive: true, force: true }) };
}

/** Deletes what processes have left that were killed. */
export async function deleteUnfinished({ path }: InstallFolder): Promise<void> {
  for (const name of await readdir(path)) {
    const [, pid] = unfinished.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) {
      await rm(join(path, name), { recursive: true, force: true });
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Replaces an engine of the same name in one step, and waits until the disk has the change. */
export async function moveInto({ path }: InstallFolder, file: string, id: string): Promise<string> {
  const target = join(path, id);
  if (await isFolder(target)) {
    throw new Error(`${target} is a folder; move it away, so that the engine can have its name`);
  }
  await rename(file, target);
  await using folder = await open(path);
  await folder.sync();
  return target;
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() ?? false;
}
