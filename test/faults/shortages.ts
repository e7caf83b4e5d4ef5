import { execFileSync } from "node:child_process";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";

/** A way to run out of disk, and out of that again. */
export interface Shortage {
  begin(folder: string): void;
  end(folder: string): void;
}

/**
 * No file of this process may grow beyond that one in the folder: what a quota does, and works on every Linux without being
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

/** The real thing: a small disk, and a file that fills it. */
export const diskIsFull: Shortage = {
  begin(folder) {
    try {
      writeFileSync(join(folder, "filling"), "x".repeat(2_000_000));
    } catch {
      // The disk is full.
    }
  },
  end(folder) {
    rmSync(join(folder, "filling"), { force: true });
  },
};

/** Mounts a small disk there for the tests of the file or group. Only root can. */
export function mountSmallDisk(folder: string): void {
  beforeAll(() => void execFileSync("mount", ["-t", "tmpfs", "-o", "size=512k", "kibitz-test", folder]));
  afterAll(() => void execFileSync("umount", ["-l", folder]));
}
