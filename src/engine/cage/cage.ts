import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { EngineSettings } from "../engine.ts";
import type { EngineCommand } from "../uci/child-process.ts";
import { type EngineUser, nobody, reaches, userNamed } from "./engine-user.ts";
import { type Guard, guards, type HardLimits, type Layer, layersOf, type Tool, tools } from "./layers.ts";

/**
 * Keeps engines from what is no engine's business: they are C++ that trusts its input, and a position is
 * somebody's input. Made of tools that Linux has (util-linux); where one is missing or forbidden, less of it holds.
 */
export interface Cage {
  /** The command, run in the cage by an engine with these settings. */
  around(command: EngineCommand, settings: EngineSettings): EngineCommand;
  /** Whom engines run as; as the server itself if undefined. */
  readonly user: EngineUser | undefined;
  /** What holds on this machine. */
  readonly holds: readonly Guard[];
  /** What does not, for people to know. */
  readonly lacks: readonly Guard[];
}

/** The engine user that the operator named cannot be had. */
export class EngineUserUnusable extends Error {}

export interface CageOptions {
  /** Name of the user to run engines as. If undefined, `nobody` where the server is root and that user can read them. */
  readonly userName: string | undefined;
  /** Folder that no engine may look into. */
  readonly hide: string;
  /** Files that engines need, beside their own. */
  readonly reads: readonly string[];
}

/**
 * What an engine may take beside its hash, and for each thread: three times what the largest one takes, so that only
 * a runaway meets it.
 */
const baseMb = 1536;
const threadMb = 64;

/** Runs engines as they are. */
export const noCage: Cage = { around: (command) => command, user: undefined, holds: [], lacks: guards };

/** The best cage that this machine has. @throws EngineUserUnusable */
export async function createCage({ userName, hide, reads }: CageOptions): Promise<Cage> {
  const paths = findTools();
  const asRoot = process.getuid?.() === 0;
  const hidden = existsSync(hide) ? realpathSync(hide) : undefined;
  const wanted = userName === undefined ? usualUser(asRoot, reads) : namedUser(userName, asRoot, reads);
  const place = { paths, asRoot, hidden, most: hardLimits() };
  const withUser = await choose(layersOf({ ...place, user: wanted }));
  const user = withUser.some((layer) => layer.guards.includes("user")) ? wanted : undefined;
  if (user === undefined && userName !== undefined) {
    throw new EngineUserUnusable(`engines cannot run as ${userName} here: that needs util-linux's setpriv`);
  }
  // Other layers make up for the user that cannot be had.
  const layers = user === wanted ? withUser : await choose(layersOf({ ...place, user }));
  const holds = guards.filter((guard) => layers.some((layer) => layer.guards.includes(guard)));
  return {
    around({ file, args }, { hashMb, threads }) {
      const memoryMaxMb = baseMb + hashMb + threadMb * threads;
      const [first, ...rest] = [...layers.flatMap(({ prefix }) => prefix(memoryMaxMb)), file, ...args];
      return { file: first ?? file, args: rest };
    },
    user,
    holds,
    lacks: guards.filter((guard) => !holds.includes(guard)),
  };
}

/** Root is more than any engine needs, but a checkout in its home is nobody else's to read. */
function usualUser(asRoot: boolean, reads: readonly string[]): EngineUser | undefined {
  return asRoot && reads.every((file) => reaches(nobody, file)) ? nobody : undefined;
}

function namedUser(name: string, asRoot: boolean, reads: readonly string[]): EngineUser {
  const user = userNamed(name);
  if (!asRoot) {
    throw new EngineUserUnusable("only root can run engines as another user");
  }
  if (user?.uid === 0) {
    throw new EngineUserUnusable("engines must not run as root");
  }
  if (user === undefined) {
    throw new EngineUserUnusable(`there is no user ${JSON.stringify(name)} on this machine`);
  }
  const unread = reads.find((file) => !reaches(user, file));
  if (unread !== undefined) {
    throw new EngineUserUnusable(`the user ${name} may not read ${unread}, which engines need`);
  }
  return user;
}

const toolFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

function findTools(): Partial<Record<Tool, string>> {
  const found = tools.map((tool) => [
    tool,
    toolFolders.map((folder) => join(folder, tool)).find(isExecutable),
  ]);
  return Object.fromEntries(found.filter(([, path]) => path !== undefined));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** As the kernel tells them; without it there is nothing to limit either. */
function hardLimits(): HardLimits {
  const most = { openFiles: Number.POSITIVE_INFINITY, dataBytes: Number.POSITIVE_INFINITY };
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const hard = (name: string) =>
      Number(new RegExp(`^${name} +\\S+ +(\\d+)`, "m").exec(limits)?.[1] ?? Infinity);
    return { openFiles: hard("Max open files"), dataBytes: hard("Max data size") };
  } catch {
    return most;
  }
}

/** Of each place the first layer that works inside those before it: what is installed may still be forbidden. */
async function choose(places: readonly (readonly Layer[])[]): Promise<readonly Layer[]> {
  const best = places.flatMap((layers) => layers.slice(0, 1));
  if (await works(best)) {
    return best;
  }
  const chosen: Layer[] = [];
  for (const layers of places) {
    for (const layer of layers) {
      if (await works([...chosen, layer])) {
        chosen.push(layer);
        break;
      }
    }
  }
  return chosen;
}

/** What a start of an engine takes in its worst case; a tool that hangs is no tool. */
const probeMaxMs = 5000;

async function works(layers: readonly Layer[]): Promise<boolean> {
  const [file, ...args] = [...layers.flatMap(({ prefix }) => prefix(baseMb)), "/bin/sh", "-c", ":"];
  if (file === undefined) {
    return true;
  }
  return new Promise((resolve) => {
    execFile(file, args, { env: {}, timeout: probeMaxMs }, (error) => resolve(error === null));
  });
}
