import { type EngineUser, reaches } from "./engine-user.ts";

/** What a sandbox can keep from an engine, in words that the log tells. */
export const guards = [
  "user",
  "keys",
  "network",
  "writes",
  "privileges",
  "limits",
  "ends with the server",
] as const;

/**
 * - `user`: it runs as another user than the server, never as root, and can neither signal that nor read what is its own;
 * - `keys`: it cannot read the folder of the key database;
 * - `network`: it has none;
 * - `writes`: it cannot write to files or let them grow; what its user may delete, cut or map it still may;
 * - `privileges`: it cannot gain any, whatever it executes;
 * - `limits`: of open files and of memory, for each process, and no core dumps;
 * - `ends with the server`: the kernel kills it when the server is killed, unless it has asked for that not to be done.
 *   What it has started itself is not killed, and ends when it sees the end of its input.
 */
export type Guard = (typeof guards)[number];

/** Programs that layers are made of. */
export const tools = ["setpriv", "chrt", "prlimit", "unshare", "sh", "mount"] as const;
export type Tool = (typeof tools)[number];

/** Part of a command line that does its work and then becomes the rest of it. */
export interface Layer {
  /** None where it keeps nothing from an engine. */
  readonly guards: readonly Guard[];
  readonly prefix: (memoryMaxMb: number) => readonly string[];
}

interface Circumstances {
  readonly paths: Readonly<Partial<Record<Tool, string>>>;
  readonly user: EngineUser | undefined;
  readonly asRoot: boolean;
  readonly hidden: string | undefined;
  /** What this process may allow its children at most; not even root need be able to allow more. */
  readonly most: HardLimits;
}

export interface HardLimits {
  readonly openFiles: number;
  /** Of memory that is written to. */
  readonly dataBytes: number;
}

/** Of each engine; a WebAssembly one opens about 30. */
const openFilesMax = 256;

/** Puts an empty file system over a folder, in a mount namespace of its own, and goes on. */
const hideScript =
  'mount=$1 folder=$2; shift 2; "$mount" -t tmpfs -o size=4k,mode=0 none "$folder" && exec "$@"';

/** The layers of a sandbox from the outside in: for each place those to try, the best first. */
export function layersOf({
  paths,
  user,
  asRoot,
  hidden,
  most,
}: Circumstances): readonly (readonly Layer[])[] {
  const { unshare, sh, mount, prlimit, chrt, setpriv } = paths;
  // Who is not root becomes the root of a user namespace for the time that this takes.
  const namespaces = [unshare ?? "", ...(asRoot ? [] : ["--user", "--map-root-user"])];

  const isolation: Layer[] = [];
  // Another user is kept out by file modes, unless the folder lets everybody in or is that user's own.
  const covered = hidden !== undefined && (!user || reaches(user, hidden));
  if (unshare && sh && mount && covered) {
    const hide = [sh, "-c", hideScript, "sh", mount, hidden];
    isolation.push(always(["network", "keys"], [...namespaces, "--net", "--mount", "--", ...hide]));
  }
  if (unshare) {
    isolation.push(always(["network"], [...namespaces, "--net", "--"]));
  }

  const limits: Layer[] = [];
  if (prlimit) {
    limits.push({
      guards: ["writes", "limits"],
      prefix: (memoryMaxMb) => [
        prlimit,
        "--core=0",
        "--fsize=0",
        `--nofile=${Math.min(openFilesMax, most.openFiles)}`,
        // Not of address space: WebAssembly reserves far more of that than it uses.
        `--data=${Math.min(memoryMaxMb * 1024 * 1024, most.dataBytes)}`,
        "--",
      ],
    });
  }

  const turns: Layer[] = [];
  if (chrt) {
    // SCHED_BATCH (BusyBox knows the short option alone): woken, an engine takes no core from the server that still answers.
    turns.push(always([], [chrt, "-b", "0"]));
  }

  const privileges: Layer[] = [];
  if (setpriv) {
    const last = ["--no-new-privs", "--pdeathsig", "KILL", "--"];
    // The root of a namespace could undo what was done in it.
    const powerless = ["--bounding-set=-all", "--inh-caps=-all"];
    if (user) {
      const become = [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups"];
      const kept: readonly Guard[] = covered ? [] : ["keys"];
      const won = ["user", "privileges", "ends with the server", ...kept] as const;
      privileges.push(always(won, [setpriv, ...become, ...powerless, ...last]));
    }
    for (const weakened of [powerless, []]) {
      privileges.push(always(["privileges", "ends with the server"], [setpriv, ...weakened, ...last]));
    }
  }
  return [isolation, limits, turns, privileges];
}

function always(guards: readonly Guard[], prefix: readonly string[]): Layer {
  return { guards, prefix: () => prefix };
}
