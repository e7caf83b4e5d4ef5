import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, digestOfFiles } from "../cache-folder.ts";
import { pythonWithChess } from "./python-with-chess.ts";

const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));
const tables = "data/syzygy/regular";

/**
 * Returns a folder with the Syzygy tables of three and four men. They are in the source distribution of python-chess, which pip
 * downloads once and checks by its digest.
 */
export function syzygyTables(): string {
  const folder = cacheFolder("syzygy-tables", digestOfFiles(requirements));
  if (!existsSync(folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    const here = mkdtempSync(`${folder}-`);
    const options = ["--quiet", "--require-hashes", "--no-deps", "--no-binary", ":all:", "--dest", here];
    execFileSync(pythonWithChess(), ["-m", "pip", "download", ...options, "-r", requirements], {
      stdio: "pipe",
    });
    const [archive = ""] = readdirSync(here);
    const name = archive.replace(/\.tar\.gz$/, "");
    execFileSync("tar", ["-xzf", join(here, archive), "-C", here, `${name}/${tables}`]);
    renameSync(join(here, name, tables), folder);
    rmSync(here, { recursive: true });
  }
  return folder;
}
