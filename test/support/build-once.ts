import { execFileSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, rm, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "./cache-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Sources {
  readonly files: readonly string[];
  /** The cache folder for the result of the build. Its name contains a digest of `files`. */
  readonly folder: string;
}

/**
 * Returns the files that a build reads and the cache folder for its result. Leaves out files that git ignores.
 * @param tool the name of the build
 * @param paths the files and folders that the build reads
 */
export function sourcesOf(tool: string, ...paths: readonly string[]): Sources {
  const list = [
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
    "--deduplicate",
    "--",
    ...paths,
  ];
  const files = execFileSync("git", list, { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter((file) => file !== "" && existsSync(join(root, file)))
    .toSorted();
  const hash = createHash("sha256");
  for (const file of files) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  }
  return { files, folder: cacheFolder(tool, hash.digest("hex").slice(0, 12)) };
}

export async function copySources({ files }: Sources, place: string): Promise<void> {
  for (const file of files) {
    await cp(join(root, file), join(place, file));
  }
}

/**
 * Runs a build if its folder does not exist. The folder is a link that is created after a successful build. So an interrupted
 * build leaves no folder, and concurrent builds do not conflict.
 */
export async function buildOnce(folder: string, build: (place: string) => Promise<unknown>): Promise<void> {
  if (existsSync(folder)) {
    return;
  }
  const place = `${folder}.${randomUUID().slice(0, 8)}`;
  await mkdir(place, { recursive: true });
  try {
    await build(place);
    await symlink(basename(place), folder);
  } catch (error) {
    await rm(place, { recursive: true, force: true });
    if (!existsSync(folder)) {
      throw error;
    }
    // Another run has finished the same build meanwhile.
  }
}
