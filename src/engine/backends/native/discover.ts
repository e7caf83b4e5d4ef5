import { access, constants, realpath, stat } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Log } from "../../../log/log.ts";
import type { Cage } from "../../cage/cage.ts";
import type { EngineBuild, EngineSettings } from "../../engine.ts";
import { sealFiles } from "../../seal.ts";
import { selfTest } from "../../self-test.ts";
import { createChildProcess } from "../../uci/child-process.ts";
import { createUciSession } from "../../uci/session.ts";
import type { WatchTimes } from "../../uci/watch-times.ts";
import { commandOfNative } from "./command.ts";
import { identityFromName } from "./identity.ts";

/** Where native engines are looked for. */
export interface NativeSearch {
  /** Binaries that the operator named. If set, nothing else is looked for. */
  readonly files: readonly string[] | undefined;
  /** The value of PATH. */
  readonly searchPath: string;
}

/** A native engine greets within a tenth of a second. A file that is none must not keep the others waiting for long. */
const greetingMaxMs = 5000;

// Debian installs to /usr/games, which is not on every PATH; Homebrew to the last two.
const usualFolders = [
  "/usr/games",
  "/usr/local/bin",
  "/usr/bin",
  "/opt/homebrew/bin",
  "/home/linuxbrew/.linuxbrew/bin",
];

/** The binaries that speak UCI and pass the self-test, with the id that their own name gives. */
export async function discoverNative(
  where: NativeSearch,
  settings: EngineSettings,
  cage: Cage,
  times: WatchTimes,
  log: Log,
  signal: AbortSignal,
): Promise<readonly EngineBuild[]> {
  const found = await Promise.all(
    (await candidates(where, log)).map((file) => identify(file, settings, cage, times, log, signal)),
  );
  const builds = new Map<string, EngineBuild>();
  for (const build of found.flat()) {
    const sha256 = await build.sha256();
    // A copy of one that is there already is no other engine.
    if (!builds.has(sha256)) {
      const taken = builds.values().some(({ id }) => id === build.id);
      builds.set(sha256, taken ? { ...build, id: `${build.id}-${sha256.slice(0, 8)}` } : build);
    }
  }
  return [...builds.values()];
}

/** Files that can be executed, links resolved, each once. */
async function candidates({ files, searchPath }: NativeSearch, log: Log): Promise<readonly string[]> {
  const folders = [...searchPath.split(delimiter), ...usualFolders].filter(Boolean);
  // npm puts the loader of its WebAssembly build on the PATH of every script, under the same name.
  const searched = folders.filter((folder) => !folder.includes("node_modules"));
  const names = files ?? searched.map((folder) => join(folder, "stockfish"));
  const real = await Promise.all(
    names.map(async (name) => {
      try {
        const file = await realpath(name);
        await access(file, constants.X_OK);
        if (!(await stat(file)).isFile()) {
          throw new Error("it is not a file");
        }
        return [file];
      } catch (error) {
        if (files) {
          log.warn(
            { file: name, error: String(error) },
            "KIBITZ_NATIVE_ENGINES names a file that cannot be run",
          );
        }
        return [];
      }
    }),
  );
  return [...new Set(real.flat())];
}

async function identify(
  found: string,
  settings: EngineSettings,
  cage: Cage,
  times: WatchTimes,
  log: Log,
  signal: AbortSignal,
): Promise<readonly EngineBuild[]> {
  try {
    const [file = found] = await cage.place([found]);
    const seal = await sealFiles([file]);
    // The real identity is only known when the engine has said its name.
    const unknown: EngineBuild = {
      id: "unknown",
      name: "unknown",
      path: "native",
      family: "unknown",
      version: "unknown",
      net: "full",
      license: undefined,
      // What is installed on this machine is its operator's to remove.
      deprecatedSince: undefined,
      settings,
      selfTestNodes: undefined,
      file,
      ...seal,
    };
    await using session = await createUciSession(
      unknown,
      createChildProcess(commandOfNative(unknown, cage)),
      { ...times, startMs: Math.min(times.startMs, greetingMaxMs) },
      signal,
    );
    const identity = identityFromName(session.info.name);
    if (identity === undefined) {
      throw new Error("it reports no name");
    }
    const selfTestNodes = await selfTest(session, settings.threads, signal);
    // Before anybody else can replace it: this is what was tested.
    await seal.sha256();
    return [{ ...unknown, ...identity, name: session.info.name, selfTestNodes }];
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ file: found, error: String(error) }, "native engine left out");
    return [];
  }
}
