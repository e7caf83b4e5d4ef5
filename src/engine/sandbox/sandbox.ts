import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { EngineSettings } from "../engine.ts";
import type { EngineCommand, UserIds } from "../uci/child-process.ts";
import { type EngineUser, EngineUserUnusable, nobody, reaches, userNamed } from "./engine-user.ts";
import { type Guard, guards, type HardLimits, type Layer, layersOf, type Tool, tools } from "./layers.ts";
import { createPlacing } from "./placing.ts";

/**
 * Keeps engines from what is no engine's business: they are C++ that trusts its input, and a position is
 * somebody's input. Made of tools that Linux has (util-linux); where one is missing or forbidden, less of it holds.
 */
export interface Sandbox extends AsyncDisposable {
  /** The command, run in the sandbox by an engine with these settings. */
  around(command: EngineCommand, settings: EngineSettings): EngineCommand;
  /** The Node that engines run in, where their user can. */
  readonly node: string;
  /**
   * Files of an engine where its user can read them, under their own names in one folder: where they are, if possible.
   * There as long as the sandbox is.
   */
  place(files: readonly string[]): Promise<readonly string[]>;
  /** Whom engines run as; as the server itself if undefined, and then that is not root. */
  readonly user: EngineUser | undefined;
  /** What holds on this machine. */
  readonly holds: readonly Guard[];
  /** What does not. A server that is not root has only its own user to run engines as: that is nothing it lacks. */
  readonly lacks: readonly Guard[];
}

interface SandboxOptions {
  /** Name of the user to run engines as. If undefined, `nobody` where the server is root. */
  readonly userName: string | undefined;
  /** Folder that no engine may look into. */
  readonly hide: string;
  /** The Node that engines run in. */
  readonly node?: string;
}

/**
 * What an engine may take beside its hash, and for each thread: three times what the largest one takes, so that only
 * a runaway meets it.
 */
const baseMb = 1536;
const threadMb = 64;

/** Runs engines as they are: for tests and measurements. */
export const noSandbox: Sandbox = {
  around: (command) => command,
  node: process.execPath,
  place: async (files) => files,
  user: undefined,
  holds: [],
  lacks: guards,
  [Symbol.asyncDispose]: async () => {},
};

/** The best sandbox that this machine has. @throws EngineUserUnusable: engines are never root. */
export async function createSandbox({
  userName,
  hide,
  node = process.execPath,
}: SandboxOptions): Promise<Sandbox> {
  const asRoot = process.getuid?.() === 0;
  const usual = asRoot ? nobody : undefined;
  const user = userName === undefined ? usual : namedUser(userName, asRoot);
  const hidden = existsSync(hide) ? realpathSync(hide) : undefined;
  const { layers, become, holds } = await buildCage(user, asRoot, hidden);
  const place = createPlacing(user, (command) => works(layers, become, command));
  try {
    return {
      around({ file, args }, { hashMb, threads }) {
        const memoryMaxMb = baseMb + hashMb + threadMb * threads;
        const [first, ...rest] = [...layers.flatMap(({ prefix }) => prefix(memoryMaxMb)), file, ...args];
        return { file: first ?? file, args: rest, ...(become && { become }) };
      },
      node: await place.program(node),
      place: place.files,
      user,
      holds: guards.filter((guard) => holds.includes(guard)),
      lacks: guards.filter((guard) => !holds.includes(guard) && (asRoot || guard !== "user")),
      [Symbol.asyncDispose]: place[Symbol.asyncDispose],
    };
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}

interface Built {
  readonly layers: readonly Layer[];
  /** Whom processes are begun as, where no layer makes them that user. */
  readonly become?: EngineUser;
  readonly holds: readonly Guard[];
}

async function buildCage(
  user: EngineUser | undefined,
  asRoot: boolean,
  hidden: string | undefined,
): Promise<Built> {
  const place = { paths: findTools(), hidden, most: hardLimits() };
  const layers = await chooseLayers(layersOf({ ...place, asRoot, user }));
  const holds = layers.flatMap((layer) => layer.guards);
  if (user === undefined || holds.includes("user")) {
    return { layers, holds };
  }
  // Without setpriv they are that user from the beginning, and build the rest without root's power.
  if (!(await works([], user))) {
    throw new EngineUserUnusable(
      `this server is root, but cannot run engines as ${user.name} here (it may not change users); start it as another user than root`,
    );
  }
  const others = await chooseLayers(layersOf({ ...place, asRoot: false, user: undefined }), user);
  const kept: readonly Guard[] = hidden !== undefined && reaches(user, hidden) ? [] : ["keys"];
  return {
    layers: others,
    become: user,
    holds: ["user", ...kept, ...others.flatMap((layer) => layer.guards)],
  };
}

function namedUser(name: string, asRoot: boolean): EngineUser {
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
  return user;
}

/**
 * Of each place the first layer that works inside those before it: what is installed may still be forbidden.
 *
 * @param become whom the processes are begun as; as the server itself if undefined.
 */
async function chooseLayers(
  places: readonly (readonly Layer[])[],
  become?: UserIds | undefined,
): Promise<readonly Layer[]> {
  const best = places.flatMap((layers) => layers.slice(0, 1));
  if (await works(best, become)) {
    return best;
  }
  const chosen: Layer[] = [];
  for (const layers of places) {
    for (const layer of layers) {
      if (await works([...chosen, layer], become)) {
        chosen.push(layer);
        break;
      }
    }
  }
  return chosen;
}

/** What a start of an engine takes in its worst case; a tool that hangs is no tool. */
const probeMaxMs = 5000;

/** Enough for anything that is tried. */
const probeMemoryMb = 1536;

const nothing = ["/bin/sh", "-c", ":"];

/** Whether a command can be run within layers; if none is named, one that does nothing. */
function works(
  layers: readonly Layer[],
  become?: UserIds | undefined,
  command: readonly string[] = nothing,
): Promise<boolean> {
  const [file = "", ...args] = [...layers.flatMap(({ prefix }) => prefix(probeMemoryMb)), ...command];
  return new Promise((resolve) => {
    try {
      execFile(
        file,
        args,
        { env: {}, timeout: probeMaxMs, ...(become && { uid: become.uid, gid: become.gid }) },
        (error) => resolve(error === null),
      );
    } catch {
      // Node throws where it may not become another user.
      resolve(false);
    }
  });
}

const toolFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** Where the tools are that this machine has. */
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
