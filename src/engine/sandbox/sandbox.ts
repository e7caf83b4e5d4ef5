import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { promisify } from "node:util";
import type { EngineSettings } from "../engine.ts";
import type { EngineCommand } from "../uci/child-process.ts";
import { copyOnce } from "./copies.ts";
import { chooseEngineUser, type EngineUser, EngineUserUnusable } from "./engine-user.ts";
import { type Guard, guards, type Link, linksFor } from "./links.ts";

/**
 * Keeps engines from doing anything but analysis: they are C++ programs that trust their input, and clients choose the positions.
 * A chain of Linux programs (util-linux) starts each engine; a missing or forbidden program is left out.
 */
export interface Sandbox {
  wrap(command: EngineCommand, settings: EngineSettings): EngineCommand;
  /** The Node binary that runs WebAssembly engines. The engines' user can read it. */
  readonly node: string;
  /** Returns paths at which the engines' user can read these files: the same paths, or copies in one folder. */
  ensureReadable(files: readonly string[]): Promise<readonly string[]>;
  /** The user is undefined if engines run as the server's own user, which is then not root. */
  readonly user: EngineUser | undefined;
  /** The protections that work on this machine. */
  readonly holds: readonly Guard[];
  /** The missing protections. A server that is not root cannot have `user`, so that one is not reported as missing. */
  readonly lacks: readonly Guard[];
}

interface SandboxOptions {
  readonly userName: string | undefined;
  /** The folder that engines must not enter. */
  readonly hide: string;
  /** The folder for copies of files that the engines' user cannot read. It is not under `hide`. */
  readonly cache?: string;
}

/** A sandbox that protects nothing, for tests and measurements. */
export const noSandbox: Sandbox = {
  wrap: (command) => command,
  node: process.execPath,
  ensureReadable: async (files) => files,
  user: undefined,
  holds: [],
  lacks: guards,
};

/** The memory limit without the hash table, and for each thread. Only a runaway engine reaches three times the usual need. */
const baseMb = 1536;
const threadMb = 64;

/** Throws EngineUserUnusable if engines cannot run as the chosen user. */
export async function createSandbox({
  userName,
  hide,
  cache = "/var/cache/kibitz",
}: SandboxOptions): Promise<Sandbox> {
  const user = chooseEngineUser(userName);
  const hidden = existsSync(hide) ? realpathSync(hide) : undefined;
  const chain = await buildChain(user, hidden);
  const succeeds = (script: string, ...args: readonly string[]) =>
    run(through(chain, shell(script, ...args), baseMb));

  async function ensureReadable(files: readonly string[]): Promise<readonly string[]> {
    const areReadable = (paths: readonly string[]) =>
      succeeds('for path; do test -r "$path" || exit 1; done', ...paths);
    if (user === undefined || (await areReadable(files))) {
      return files;
    }
    try {
      const copies = await copyOnce(files, cache);
      if (!(await areReadable(copies))) {
        throw new Error(`${copies[0]} cannot be read either`);
      }
      return copies;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new EngineUserUnusable(
        `engines run as ${user.name}, who may not read ${files[0]}, and a copy for that user failed: ${reason}. Move Kibitz to a folder that every user may read, such as /opt, name a user who may read it in KIBITZ_ENGINE_USER, or start it as another user than root`,
        { cause },
      );
    }
  }

  const held = new Set(chain.links.flatMap((link) => link.guards));
  if (user) {
    held.add("user");
  }
  // If the folder does not exist yet, the protection cannot be tested.
  if (hidden ? await succeeds('! test -x "$1"', hidden) : user || held.has("network")) {
    held.add("keys");
  }
  const [node = process.execPath] = await ensureReadable([process.execPath]);
  return {
    wrap: (command, { hashMb, threads }) => through(chain, command, baseMb + hashMb + threadMb * threads),
    node,
    ensureReadable,
    user,
    holds: guards.filter((guard) => held.has(guard)),
    lacks: guards.filter((guard) => !held.has(guard) && (user || guard !== "user")),
  };
}

interface Chain {
  readonly links: readonly Link[];
  /** The user that Node uses to start the chain, if not the server's own. */
  readonly runAs: EngineUser | undefined;
}

async function buildChain(user: EngineUser | undefined, hidden: string | undefined): Promise<Chain> {
  const links = await workingLinks(linksFor(user, hidden));
  if (user === undefined || links.some((link) => link.guards.includes("privileges"))) {
    return { links, runAs: undefined };
  }
  // If setpriv does not work, Node starts the chain as the engines' user. The other programs work without root's rights, too.
  if (!(await run({ ...shell(":"), runAs: user }))) {
    throw new EngineUserUnusable(
      `this server is root, but cannot run engines as ${user.name} here (it may not change users); start it as another user than root`,
    );
  }
  return { links: await workingLinks(linksFor(undefined, hidden), user), runAs: user };
}

/** Tries each program by itself, because an installed program may be forbidden. */
async function workingLinks(links: readonly Link[], runAs?: EngineUser): Promise<readonly Link[]> {
  const works = await Promise.all(
    links.map((link) => run(through({ links: [link], runAs }, shell(":"), baseMb))),
  );
  return links.filter((_, index) => works[index]);
}

function through({ links, runAs }: Chain, { file, args }: EngineCommand, memoryMaxMb: number): EngineCommand {
  const [first = file, ...rest] = [...links.flatMap(({ command }) => command(memoryMaxMb)), file, ...args];
  return { file: first, args: rest, runAs };
}

function shell(script: string, ...args: readonly string[]): EngineCommand {
  return { file: "sh", args: ["-c", script, "sh", ...args] };
}

const trialMaxMs = 5000;

async function run({ file, args, runAs }: EngineCommand): Promise<boolean> {
  try {
    const options = { env: {}, timeout: trialMaxMs, uid: runAs?.uid, gid: runAs?.gid };
    await promisify(execFile)(file, args, options);
    return true;
  } catch {
    return false;
  }
}
