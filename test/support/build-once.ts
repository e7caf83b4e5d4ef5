import { execFileSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { cp, mkdir, rm, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder } from "./cache-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Files of this checkout that a build reads, except those that git ignores, and the folder that keeps the result of the build.
 */
export interface Sources {
  /** Paths in the checkout. */
  readonly files: readonly string[];
  /**
   * The folder in the cache that keeps the build. Its name has a digest of the files, so a changed file leads to a new folder.
   */
  readonly folder: string;
}

/**
 * Returns the files that a build reads, and the folder in the cache that keeps its result.
 * @param tool the name of the build
 * @param paths files and folders of the checkout that the build reads
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

/** Copies the source files into a folder, each to the path that it has in the checkout. */
export async function copySources({ files }: Sources, place: string): Promise<void> {
  for (const file of files) {
    await cp(join(root, file), join(place, file));
  }
}

/**
 * Runs a build unless its folder exists. The folder is a link, set after the build has succeeded: an interrupted build leaves no
 * folder, two concurrent builds do not meet, and no file moves, because a virtual environment knows its own path.
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
    // Another run has built the same meanwhile.
  }
}
