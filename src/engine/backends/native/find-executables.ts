import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";

export interface NativeSearch {
  /** The binaries that the operator named; if set, discovery looks nowhere else. */
  readonly files: readonly string[] | undefined;
  /** The value of the environment variable PATH. */
  readonly searchPath: string;
}

/** Folders besides those on the PATH: Debian installs engines to /usr/games, Homebrew to the last two. */
const usualFolders = [
  "/usr/games",
  "/usr/local/bin",
  "/usr/bin",
  "/opt/homebrew/bin",
  "/home/linuxbrew/.linuxbrew/bin",
];

/** Lists native engines, each once, with links resolved. Calls `onUnusable` for a file of the operator that cannot be run. */
export async function findExecutables(
  { files, searchPath }: NativeSearch,
  onUnusable: (file: string, error: unknown) => void,
): Promise<readonly string[]> {
  const folders = [...searchPath.split(delimiter), ...usualFolders].filter(Boolean);
  // Skip the folders of npm, which puts the loader of the WebAssembly build on the PATH of every script, under the same name.
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
