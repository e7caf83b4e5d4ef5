import { existsSync, readFileSync } from "node:fs";

/** A user of this machine. Engines run as this user. */
export interface EngineUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** The error if engines cannot run as the user that was chosen. The message says what to do. */
export class EngineUserUnusable extends Error {}

/** The ids that Linux gives to an unknown user. That user owns no files. */
const nobody: EngineUser = { name: "nobody", uid: 65_534, gid: 65_534 };

/**
 * Chooses the user that engines run as, which is never root. Undefined if they run as the server's own user.
 *
 * @param name the operator's setting; if undefined, a server that is root runs engines as `nobody`
 * @throws EngineUserUnusable if engines cannot run as that user
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
  // A minimal container image may have no file of users.
  const users = existsSync("/etc/passwd") ? readFileSync("/etc/passwd", "utf8").split("\n") : [];
  const row = users.map((line) => line.split(":")).find(([first]) => first === name);
  return row && { name, uid: Number(row[2]), gid: Number(row[3]) };
}
