import { execFile } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { promisify } from "node:util";
import type { EngineSettings } from "../engine.ts";
import type { EngineCommand } from "../uci/child-process.ts";
import { copyOnce } from "./copies.ts";
import { chooseEngineUser, type EngineUser, EngineUserUnusable } from "./engine-user.ts";
import { type Guard, guards, type Link, linksFor } from "./links.ts";

/** Restricts engines with a chain of programs of util-linux. Omits a program that is missing or not permitted. */
export interface Sandbox {
  /** `memoryMb` is the memory that one engine is expected to reserve, if it may be more than usual. The limit is twice this value. */
  wrap(command: EngineCommand, settings: EngineSettings, memoryMb?: number): EngineCommand;
  /** The Node binary for WebAssembly engines, which the engines' user can read. */
  readonly node: string;
  /** Returns paths that the engines' user can read: the paths of `files`, or the paths of copies in one folder. */
  ensureReadable(files: readonly string[]): Promise<readonly string[]>;
  /** Undefined if engines run as the same user as the server. The engines' user is never root. */
  readonly user: EngineUser | undefined;
  readonly holds: readonly Guard[];
  /** The protections that do not work. `user` is listed only if the server runs as root. */
  readonly lacks: readonly Guard[];
}

interface SandboxOptions {
  readonly userName: string | undefined;
  readonly hide: string;
  /** The folder for copies of files that the engines' user cannot read. Must be outside of `hide`. */
  readonly cache?: string;
}

export const noSandbox: Sandbox = {
  wrap: (command) => command,
  node: process.execPath,
  ensureReadable: async (files) => files,
  user: undefined,
  holds: [],
  lacks: guards,
};

/** The memory limit of an engine in MiB, without hash table and threads. Engines normally need a third of the limit. */
const baseMb = 1536;
const threadMb = 64;
/** An engine is killed only if it needs far more memory than the operator expects. */
const reserveFactor = 2;

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
  // A protection of a folder that does not exist yet cannot be tested.
  if (hidden ? await succeeds('! test -x "$1"', hidden) : user || held.has("network")) {
    held.add("keys");
  }
  const [node = process.execPath] = await ensureReadable([process.execPath]);
  return {
    wrap: (command, { hashMb, threads }, memoryMb = 0) =>
      through(chain, command, Math.max(baseMb, reserveFactor * memoryMb) + hashMb + threadMb * threads),
    node,
    ensureReadable,
    user,
    holds: guards.filter((guard) => held.has(guard)),
    lacks: guards.filter((guard) => !held.has(guard) && (user || guard !== "user")),
  };
}

interface Chain {
  readonly links: readonly Link[];
  /** Node starts the first program as this user. Undefined means the user of the server. */
  readonly runAs: EngineUser | undefined;
}

async function buildChain(user: EngineUser | undefined, hidden: string | undefined): Promise<Chain> {
  const links = await workingLinks(linksFor(user, hidden));
  if (user === undefined || links.some((link) => link.guards.includes("privileges"))) {
    return { links, runAs: undefined };
  }
  // If setpriv does not work, Node starts the chain as the engines' user.
  if (!(await run({ ...shell(":"), runAs: user }))) {
    throw new EngineUserUnusable(
      `this server is root, but cannot run engines as ${user.name} here (it may not change users); start it as another user than root`,
    );
  }
  return { links: await workingLinks(linksFor(undefined, hidden), user), runAs: user };
}

/** Tries each program, because the system may forbid a program that is installed. */
async function workingLinks(links: readonly Link[], runAs?: EngineUser): Promise<readonly Link[]> {
  const works = await Promise.all(
    links.map((link) => run(through({ links: [link], runAs }, shell(":"), baseMb))),
  );
  return links.filter((_, index) => works[index]);
}

/** Exports the variables before `--`, and then executes the rest of the command line. */
const exportScript = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift; exec "$@"';

function through(
  { links, runAs }: Chain,
  { file, args, env }: EngineCommand,
  memoryMaxMb: number,
): EngineCommand {
  if (links.length === 0) {
    return { file, args, env, runAs };
  }
  // Only the engine gets the variables: with another PATH, Node would not find the programs of the chain.
  const variables = Object.entries(env ?? {}).map(([name, value]) => `${name}=${value}`);
  const withVariables = variables.length === 0 ? [] : ["sh", "-c", exportScript, "sh", ...variables, "--"];
  const [first = file, ...rest] = [
    ...links.flatMap(({ command }) => command(memoryMaxMb)),
    ...withVariables,
    file,
    ...args,
  ];
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
