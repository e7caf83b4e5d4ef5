import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** A user of this machine that engines can run as. */
export interface EngineUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

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

const readable = 4;
const searchable = 1;

/** Whether a user may read a file or folder, and every folder above it. Looks at modes, not at access lists. */
export function reaches(user: EngineUser, path: string): boolean {
  try {
    const real = realpathSync(path);
    if (!may(user, real, readable)) {
      return false;
    }
    for (let folder = dirname(real); ; folder = dirname(folder)) {
      if (!may(user, folder, searchable)) {
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

function may({ uid, gid }: EngineUser, path: string, what: number): boolean {
  const { mode, uid: owner, gid: group } = statSync(path);
  const shift = owner === uid ? 6 : group === gid ? 3 : 0;
  return ((mode >> shift) & what) === what;
}
