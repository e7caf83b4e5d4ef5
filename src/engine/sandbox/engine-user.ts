import { existsSync, readFileSync } from "node:fs";

export interface EngineUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export class EngineUserUnusable extends Error {}

/** The usual ids on Linux of the user `nobody`, who owns no files. */
const nobody: EngineUser = { name: "nobody", uid: 65_534, gid: 65_534 };

/**
 * Returns the user of the engines, who is never root. If the server runs as root and `name` is missing, this is `nobody`.
 * Undefined means the user of the server.
 */
export function chooseEngineUser(name: string | undefined): EngineUser | undefined {
  const isRoot = process.getuid?.() === 0;
  if (name === undefined) {
    return isRoot ? nobody : undefined;
  }
  if (!isRoot) {
    throw new EngineUserUnusable("only root can run engines as another user");
  }
  const user = findUser(name);
  if (user === undefined) {
    throw new EngineUserUnusable(`there is no user ${JSON.stringify(name)} on this machine`);
  }
  if (user.uid === 0) {
    throw new EngineUserUnusable("engines must not run as root");
  }
  return user;
}

function findUser(name: string): EngineUser | undefined {
  // A minimal container image may have no file /etc/passwd.
  const users = existsSync("/etc/passwd") ? readFileSync("/etc/passwd", "utf8").split("\n") : [];
  const row = users.map((line) => line.split(":")).find(([first]) => first === name);
  return row && { name, uid: Number(row[2]), gid: Number(row[3]) };
}
