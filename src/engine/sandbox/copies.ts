import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, copyFile, lstat, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { digestOf } from "../file-integrity.ts";

/**
 * Copies files to a folder that every user can read. Later starts reuse the copies.
 * Throws Error if the copies cannot be made, or if another user could have changed them.
 */
export async function copyOnce(files: readonly string[], cache: string): Promise<readonly string[]> {
  await createOwnFolder(cache);
  const digest = await digestOfNamed(files);
  const folder = join(cache, `${basename(files[0] ?? "")}-${digest}`);
  const copies = files.map((file) => join(folder, basename(file)));
  if (!existsSync(folder)) {
    await copyInto(folder, files, cache);
  }
  if ((await digestOfNamed(copies)) !== digest) {
    throw new Error(`the content of ${folder} does not match the digest in its name; delete it`);
  }
  return copies;
}

/** Covers the names, because engines find their files by name. */
async function digestOfNamed(files: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(JSON.stringify([basename(file), await digestOf([file])]));
  }
  return hash.digest("hex");
}

/** Throws if another user can write to the folder, and could therefore have changed its content. */
async function createOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  // Check even a new folder: a user who can write to the parent folder may have created this name earlier.
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0) {
    throw new Error(`${folder} is not a folder that only the server's user can write to; delete it`);
  }
  await chmod(folder, 0o755);
}

/** Copies to a temporary folder, and then renames the folder. Another server that starts now never sees incomplete copies. */
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
    // Ignore the error if another server has created the folder in the meantime.
    if (!existsSync(folder)) {
      throw error;
    }
  }
}
