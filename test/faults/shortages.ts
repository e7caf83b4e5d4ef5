import { execFileSync } from "node:child_process";
import { renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** Makes a disk full, or a folder unreachable, from `begin` until `end`. */
export interface Shortage {
  begin(folder: string): void;
  end(folder: string): void;
}

/**
 * Limits the size of all files of this process to the present size of the file `name`, like a disk quota. Needs Linux, but not
 * root.
 */
export const noFileGrowsBeyond = (name: string): Shortage => ({
  begin(folder) {
    const { size } = statSync(join(folder, name));
    execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${size}:unlimited`]);
  },
  end() {
    execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=unlimited:unlimited"]);
  },
});

/** Fills a small disk with a file. */
export const diskIsFull: Shortage = {
  begin(folder) {
    try {
      writeFileSync(join(folder, "filling"), "x".repeat(2_000_000));
    } catch {
      // The write fails because the disk is full.
    }
  },
  end(folder) {
    rmSync(join(folder, "filling"), { force: true });
  },
};

/**
 * Replaces the folder by a symbolic link to itself. Files that are open can still be used, but the file system answers ELOOP for
 * every path in the folder, also to root. So Node's `fs` fails, and not SQLite.
 */
export const folderIsUnreachable: Shortage = {
  begin(folder) {
    renameSync(folder, `${folder}.moved`);
    symlinkSync(folder, folder);
  },
  end(folder) {
    if (statSync(`${folder}.moved`, { throwIfNoEntry: false })) {
      rmSync(folder);
      renameSync(`${folder}.moved`, folder);
    }
  },
};

/** Mounts a small disk for the tests of a `describe` or file. Needs root. */
export function mountSmallDisk(folder: string): void {
  beforeAll(() => void execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k", "kibitz-test", folder]));
  afterAll(() => void execFileSync("umount", ["-l", folder]));
}
