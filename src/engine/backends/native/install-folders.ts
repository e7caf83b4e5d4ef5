import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** `kibitz engines install` installs here when root runs it. Every user's Kibitz looks for engines here. */
const commonFolder = "/usr/local/share/kibitz/engines";

/** @param dataHome the folder of the user's own data, such as `~/.local/share`, if the user has one */
export function installFoldersIn(dataHome: string | undefined) {
  return {
    common: commonFolder,
    own: dataHome === undefined ? undefined : join(dataHome, "kibitz", "engines"),
  };
}

export type InstallFolders = ReturnType<typeof installFoldersIn>;

/** Returns the files in the folders, the user's own first. A file has the id of its engine as name. */
export async function findInstalled({ own, common }: InstallFolders): Promise<readonly string[]> {
  const folders = own === undefined ? [common] : [own, common];
  const files = await Promise.all(
    folders.map(async (folder) => {
      // Most users have only one of the folders.
      const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
      return found
        .filter((one) => !one.isDirectory() && !one.name.startsWith("."))
        .map(({ name }) => join(folder, name))
        .toSorted();
    }),
  );
  return files.flat();
}
