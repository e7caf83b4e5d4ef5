import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** A user of this machine that engines can run as. */
export interface EngineUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Engines cannot run as the user that the operator named, or as any but root. The message says the way out. */
export class EngineUserUnusable extends Error {}

/** Owns nothing on any Linux; the numbers are the kernel's own for somebody it does not know. */
export const nobody: EngineUser = { name: "nobody", uid: 65_534, gid: 65_534 };

/** As the file of users says; `undefined` if it does not. */
export function userNamed(name: string): EngineUser | undefined {
  const row = usersOf("/etc/passwd").find(([first]) => first === name);
  if (row === undefined) {
    return undefined;
  }
  return { name, uid: Number(row[2]), gid: Number(row[3]) };
}

function usersOf(file: string): readonly string[][] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch {
    // An image with nothing in it but the program.
    return [];
  }
}

/** Bits of a mode. A script has to be read to be run. */
const needs = { read: 4, run: 5, enter: 1 } as const;

/** Whether a user may read or run a file, or read a folder, by its own mode and those of all folders above it. */
export function reaches(user: EngineUser, path: string, use: "read" | "run" = "read"): boolean {
  try {
    const real = realpathSync(path);
    if (!mayUse(user, real, use)) {
      return false;
    }
    for (let folder = dirname(real); ; folder = dirname(folder)) {
      if (!mayUse(user, folder, "enter")) {
        return false;
      }
      if (folder === dirname(folder)) {
        return true;
      }
    }
  } catch {
    return false;
  }
}

/** Looks at the mode of the file itself, not at access lists. */
export function mayUse({ uid, gid }: EngineUser, path: string, use: keyof typeof needs): boolean {
  const { mode, uid: owner, gid: group } = statSync(path);
  const shift = owner === uid ? 6 : group === gid ? 3 : 0;
  return ((mode >> shift) & needs[use]) === needs[use];
}
