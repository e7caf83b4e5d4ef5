import { existsSync } from "node:fs";
import { chmod, copyFile, lstat, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { digestOf } from "../file-integrity.ts";

/**
 * Copies files to where every user may read them. The digest in the folder's name lets later starts use the same copies. Throws
 * if the copies cannot be made, or if another user could have changed them.
 */
export async function copyOnce(files: readonly string[], cache: string): Promise<readonly string[]> {
  await createOwnFolder(cache);
  const digest = await digestOf(files);
  const folder = join(cache, `${basename(files[0] ?? "")}-${digest}`);
  const copies = files.map((file) => join(folder, basename(file)));
  if (!existsSync(folder)) {
    await copyInto(folder, files, cache);
  }
  if ((await digestOf(copies)) !== digest) {
    throw new Error(`the content of ${folder} does not match the digest in its name; delete it`);
  }
  return copies;
}

/** Creates a folder to which only the server's user can write, so that no other user can have made its content. */
async function createOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Check even a new folder: if others can write to the parent folder, they may have created a folder or a link of this name.
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${folder} is not a folder that only the server's user can write to; delete it`);
  }
  await chmod(folder, 0o755);
}

/** The folder appears with all of its files at once, because two servers may start at the same time. */
async function copyInto(folder: string, files: readonly string[], cache: string): Promise<void> {
  const unfinished = await mkdtemp(join(cache, "unfinished-"));
  try {
    for (const file of files) {
      const copy = join(unfinished, basename(file));
      await copyFile(file, copy);
      await chmod(copy, 0o555);
    }
    await chmod(unfinished, 0o755);
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true });
    // Another server may have made the folder meanwhile.
    if (!existsSync(folder)) {
      throw error;
    }
  }
}
