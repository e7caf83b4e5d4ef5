import type { EngineUser } from "./engine-user.ts";

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
 * The protections of a sandbox:
 * - `user`: the engine can send no signals to the server, and can read no files of the server.
 * - `keys`: the engine cannot enter the folder of the key database.
 * - `network`: the engine has no network.
 * - `writes`: the engine cannot write to files, but can delete, truncate and map files of its user.
 * - `privileges`: the programs that the engine executes cannot gain privileges.
 * - `limits`: the open files and the memory of each process are limited, and core dumps are disabled.
 * - `ends with the server`: the kernel kills the engine, but not its child processes, when the server is killed.
 */
export type Guard = (typeof guards)[number];

/** A program that restricts its own process, and then executes the rest of the command line. */
export interface Link {
  readonly guards: readonly Guard[];
  /** The program with its arguments. `memoryMaxMb` is the engine's memory limit in MiB. */
  readonly command: (memoryMaxMb: number) => readonly string[];
}

/** WebAssembly engines open about 30 files. */
const openFilesMax = 256;

/** Mounts an empty file system over a folder, and then executes the rest of the command line. */
const hideScript = 'mount -t tmpfs -o size=4k,mode=0 none "$1" && shift && exec "$@"';

/**
 * Ignores the signal of a write beyond the file size limit, so that the engine gets an error and is not killed. Stockfish 18 and
 * 19 try to share their network in a file in memory, and load it into their own memory after an error.
 */
const ignoreScript = 'trap "" XFSZ && exec "$@"';

/** Returns programs of util-linux in the order of their start. With `user`, the last program changes from root to `user`. */
export function linksFor(user: EngineUser | undefined, hidden: string | undefined): readonly Link[] {
  // Without root, a user namespace gives the rights that the other namespaces need.
  const asRoot = user ? [] : ["--user", "--map-current-user", "--keep-caps"];
  const hide = hidden === undefined ? [] : ["sh", "-c", hideScript, "sh", hidden];
  const become = user
    ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, "--clear-groups", "--bounding-set=-all"]
    : [];
  return [
    fixed(["network"], ["unshare", ...asRoot, "--net", "--mount", "--", ...hide]),
    fixed([], ["sh", "-c", ignoreScript, "sh"]),
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
    // With SCHED_BATCH, a waking engine does not interrupt the server.
    fixed([], ["chrt", "-b", "0"]),
    fixed(
      ["privileges", "ends with the server"],
      // Drop the inheritable capabilities, which include all capabilities from --keep-caps.
      ["setpriv", ...become, "--inh-caps=-all", "--no-new-privs", "--pdeathsig", "KILL", "--"],
    ),
  ];
}

function fixed(guards: readonly Guard[], command: readonly string[]): Link {
  return { guards, command: () => command };
}
