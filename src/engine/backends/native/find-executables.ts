import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { profiles } from "../../profiles.ts";
import type { EngineDescription } from "./described.ts";
import { findInstalled, installFoldersIn } from "./install-folders.ts";

export interface NativeSearch {
  /** The paths in KIBITZ_NATIVE_ENGINES. If this variable is set, no folder is searched for engines. */
  readonly files: readonly string[] | undefined;
  readonly searchPath: string;
  /** The folder for the user's data, which may contain engines that the user has installed. */
  readonly dataHome?: string | undefined;
  /** The engines that the operator describes. */
  readonly described?: readonly EngineDescription[];
}

/** `installed` are the engines of `kibitz engines install`, and `named` all others. */
interface FoundExecutables {
  readonly named: readonly string[];
  readonly installed: readonly string[];
}

/** Debian installs engines in /usr/games, and Homebrew in the last two folders. */
const usualFolders = [
  "/usr/games",
  "/usr/local/bin",
  "/usr/bin",
  "/opt/homebrew/bin",
  "/home/linuxbrew/.linuxbrew/bin",
];

const programs = profiles.flatMap((profile) => profile.programs);

/** Returns each native engine once. Calls `onUnusable` for a file of the operator that cannot be executed. */
export async function findExecutables(
  { files, searchPath, dataHome }: NativeSearch,
  onUnusable: (file: string, error: unknown) => void,
): Promise<FoundExecutables> {
  const folders = [...searchPath.split(delimiter), ...usualFolders].filter(Boolean);
  // Skip the folders of npm: they contain a file `stockfish`, which is the loader of the WebAssembly build.
  const searched = folders.filter((folder) => !folder.includes("node_modules"));
  const names = files ?? searched.flatMap((folder) => programs.map((program) => join(folder, program)));
  const named = await executablesOf(names, files ? onUnusable : () => {});
  const inFolders = files ? [] : await findInstalled(installFoldersIn(dataHome));
  const installed = await executablesOf(inFolders, onUnusable);
  return { named, installed: installed.filter((file) => !named.includes(file)) };
}

async function executablesOf(
  names: readonly string[],
  onUnusable: (file: string, error: unknown) => void,
): Promise<readonly string[]> {
  const real = await Promise.all(
    names.map(async (name) => {
      try {
        const file = await realpath(name);
        await access(file, constants.X_OK);
        if (!(await stat(file)).isFile()) {
          throw new Error("it is not a file");
        }
        return [file];
      } catch (error) {
        onUnusable(name, error);
        return [];
      }
    }),
  );
  return [...new Set(real.flat())];
}
