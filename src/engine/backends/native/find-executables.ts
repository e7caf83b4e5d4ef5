import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";

export interface NativeSearch {
  /** The paths in KIBITZ_NATIVE_ENGINES. If this variable is set, no folder is searched for engines. */
  readonly files: readonly string[] | undefined;
  readonly searchPath: string;
}

/** Debian installs engines in /usr/games, and Homebrew in the last two folders. */
const usualFolders = [
  "/usr/games",
  "/usr/local/bin",
  "/usr/bin",
  "/opt/homebrew/bin",
  "/home/linuxbrew/.linuxbrew/bin",
];

/** Returns each native engine once. Calls `onUnusable` for a file of the operator that cannot be executed. */
export async function findExecutables(
  { files, searchPath }: NativeSearch,
  onUnusable: (file: string, error: unknown) => void,
): Promise<readonly string[]> {
  const folders = [...searchPath.split(delimiter), ...usualFolders].filter(Boolean);
  // Skip the folders of npm: they contain a file `stockfish`, which is the loader of the WebAssembly build.
  const searched = folders.filter((folder) => !folder.includes("node_modules"));
  const names = files ?? searched.map((folder) => join(folder, "stockfish"));
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
        if (files) {
          onUnusable(name, error);
        }
        return [];
      }
    }),
  );
  return [...new Set(real.flat())];
}
