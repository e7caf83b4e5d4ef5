import type { EngineUser } from "./engine-user.ts";

/** The protections of a sandbox, by their names in the log. */
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
 * A protection of a sandbox:
 * - `user`: the engine runs as another user than the server. It can neither signal the server nor read the server's files.
 * - `keys`: the engine cannot enter the folder of the key database.
 * - `network`: the engine has no network.
 * - `writes`: the engine cannot write to files. It can still delete, truncate and map files that its user owns.
 * - `privileges`: the engine cannot gain privileges by any program that it executes.
 * - `limits`: open files and memory of each process are limited, and there are no core dumps.
 * - `ends with the server`: the kernel kills the engine when the server is killed, unless the engine has disabled that. A process
 *   that the engine has started is not killed; it ends when it reads the end of its input.
 */
export type Guard = (typeof guards)[number];

/** A program that sets up protections for its own process, and then executes the rest of the command line in it. */
export interface Link {
  readonly guards: readonly Guard[];
  /** The program and its arguments, before the rest of the command line. The engine may write to `memoryMaxMb` MiB. */
  readonly command: (memoryMaxMb: number) => readonly string[];
}

/** WebAssembly engines open about 30 files. */
const openFilesMax = 256;

/** A shell script that mounts an empty file system over a folder, and then executes the rest of the command line. */
const hideScript = 'mount -t tmpfs -o size=4k,mode=0 none "$1" && shift && exec "$@"';

/** Lists programs of util-linux, the outermost first. If `user` is set, root starts the chain, which switches to that user. */
export function linksFor(user: EngineUser | undefined, hidden: string | undefined): readonly Link[] {
  // If the server is not root, a user namespace has the rights that the other namespaces need.
  const asRoot = user ? [] : ["--user", "--map-current-user", "--keep-caps"];
  const hide = hidden === undefined ? [] : ["sh", "-c", hideScript, "sh", hidden];
  const become = user
    ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--bounding-set=-all"]
    : [];
  return [
    fixed(["network"], ["unshare", ...asRoot, "--net", "--mount", "--", ...hide]),
    {
      guards: ["writes", "limits"],
      command: (memoryMaxMb) => [
        "prlimit",
        "--core=0",
        "--fsize=0",
        `--nofile=${openFilesMax}`,
        // Limit the data and not the address space: WebAssembly reserves far more address space than it uses.
        `--data=${memoryMaxMb * 1024 * 1024}`,
        "--",
      ],
    },
    // With SCHED_BATCH, an engine that wakes up does not preempt the server, so the server keeps answering.
    fixed([], ["chrt", "-b", "0"]),
    fixed(
      ["privileges", "ends with the server"],
      // This drops the inheritable capabilities, which include all that --keep-caps kept.
      ["setpriv", ...become, "--inh-caps=-all", "--no-new-privs", "--pdeathsig", "KILL", "--"],
    ),
  ];
}

function fixed(guards: readonly Guard[], command: readonly string[]): Link {
  return { guards, command: () => command };
}
