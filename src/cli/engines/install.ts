import { chmod, realpath, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { wasmBuilds } from "../../engine/backends/wasm/builds.ts";
import type { EngineBuild } from "../../engine/engine.ts";
import { preferredFamily } from "../../engine/profiles.ts";
import { createSandbox, type Sandbox } from "../../engine/sandbox/sandbox.ts";
import { withoutControls } from "../../text/controls.ts";
import { echo } from "../../text/echo.ts";
import type { Config } from "../../wiring/settings.ts";
import { type CommandInput, UsageError } from "../command.ts";
import { digestByUser } from "./digest-by-user.ts";
import {
  createInstallFolder,
  createUnfinished,
  deleteUnfinished,
  foldersOf,
  folderToInstallInto,
  type InstallFolder,
  moveInto,
} from "./install-folder.ts";
import { isOfSystem, type LoadOptions, loadFile, nameOf } from "./load-file.ts";
import { createLoadProgress } from "./load-progress.ts";
import { officialRelease, type Release } from "./official-release.ts";
import { buildsIn, tryEngine } from "./try-engine.ts";
import { unpackFile } from "./unpack-file.ts";

export interface InstalledEngine {
  readonly id: string;
  readonly version: string;
  readonly path: string;
  readonly sha256: string;
}

interface Source {
  readonly from: string | URL;
  /** Undefined if the user names the source. */
  readonly official: Release | undefined;
  readonly member: string | undefined;
  readonly sha256: string;
}

interface InstallOptions extends Pick<LoadOptions, "silenceMaxMs" | "maxBytes"> {
  readonly release?: Release;
  readonly folder?: InstallFolder;
}

/** Loads an engine, checks its digest, tries it in its sandbox, and only then puts it into its place. */
export async function installEngine(
  input: CommandInput,
  config: Config,
  {
    release = officialRelease,
    folder = folderToInstallInto(foldersOf(config)),
    silenceMaxMs,
    maxBytes,
  }: InstallOptions = {},
): Promise<InstalledEngine> {
  const { signal, host } = input;
  const sandbox = await createSandbox({ userName: config.engineUser, hide: config.dataDir });
  const say = (line: string) => void host.stderr.write(`${withoutControls(line)}\n`);
  const there = input.values.from === undefined ? join(folder.path, release.id) : undefined;
  if (there !== undefined && (await isFile(there))) {
    const build = await tryEngine(there, config.hashMb, sandbox, signal).catch(() => undefined);
    if (build?.id === release.id) {
      say(`${release.name} is here already; kibitz engines remove ${release.id} deletes it.`);
      return installedFrom(build, there);
    }
  }
  const source = await sourceOf(input, release, silenceMaxMs);
  try {
    await createInstallFolder(folder);
    await deleteUnfinished(folder);
    await using unfinished = await createUnfinished(folder);
    const archive = join(unfinished.path, "archive");
    const progress = createLoadProgress(nameOf(source.from), host.stderr);
    const loaded = await loadFile(source.from, archive, {
      hosts: source.official?.hosts,
      signal,
      onProgress: progress.step,
      silenceMaxMs,
      maxBytes,
    }).finally(progress.clear);
    if (loaded !== source.sha256) {
      throw new Error(
        `${nameOf(source.from)} has the SHA-256 digest ${loaded}, and not ${source.sha256}, so nothing was installed. ${adviceOnDigest(source)}`,
      );
    }
    say("The digest is right. Unpacking and trying the engine…");
    const file = join(unfinished.path, "engine");
    await unpackFile(archive, source.member, file, signal).catch((error: Error) => {
      signal.throwIfAborted();
      throw isOfSystem(error)
        ? error
        : new Error(`${nameOf(source.from)} cannot be unpacked: ${error.message}`);
    });
    await chmod(file, 0o755);
    const build = await tryEngine(file, config.hashMb, sandbox, signal).catch((error: Error) => {
      signal.throwIfAborted();
      throw new Error(
        `the engine does not run here, so nothing was installed: ${error.message}. ${adviceOnEngine(source)}`,
      );
    });
    mustBeWanted(build, source);
    signal.throwIfAborted();
    const path = await moveInto(folder, file, build.id);
    await explain(say, { build, path, folder, config, sandbox, signal });
    return installedFrom(build, path);
  } catch (error) {
    signal.throwIfAborted();
    throw systemError(error, folder);
  }
}

/** Opening another kind of file, such as a pipe without a writer, may never end. */
async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

function installedFrom({ id, version, sha256 }: EngineBuild, path: string): InstalledEngine {
  return { id, version, path, sha256 };
}

async function sourceOf(input: CommandInput, release: Release, silenceMaxMs?: number): Promise<Source> {
  const { from, sha256, yes } = input.values;
  if (typeof from === "string") {
    if (typeof sha256 !== "string") {
      throw new UsageError(
        "--from needs --sha256 with the digest of the file, from a source that you trust (sha256sum prints the digest of a file)",
      );
    }
    return { from: addressOf(from), official: undefined, member: undefined, sha256: digestFrom(sha256) };
  }
  const machine = `${process.platform}-${process.arch}`;
  const build = Object.hasOwn(release.builds, machine) ? release.builds[machine] : undefined;
  if (build === undefined) {
    throw new Error(
      process.platform === "win32"
        ? "Kibitz installs no engines on Windows; name a UCI binary in KIBITZ_NATIVE_ENGINES"
        : `there is no official build of ${release.name} for ${machine}; install the package of your system, or a file with --from`,
    );
  }
  const { archive, member } = build;
  const known =
    typeof sha256 === "string"
      ? digestFrom(sha256)
      : (build.sha256 ?? (await digestByUser(input, release, archive, yes === true, silenceMaxMs)));
  return { from: new URL(archive, release.files), official: release, member, sha256: known };
}

function addressOf(from: string): string | URL {
  if (from === "") {
    throw new UsageError("--from names no file");
  }
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(from)) {
    return from;
  }
  try {
    const url = new URL(from);
    if (/^https?:$/.test(url.protocol)) {
      return url;
    }
    return fileURLToPath(url);
  } catch {
    throw new UsageError(`--from is ${echo(from)}, but must be a file, or an address with https or http`);
  }
}

function digestFrom(text: string): string {
  const digest = text.toLowerCase().replace(/^sha256:/, "");
  if (!/^[0-9a-f]{64}$/.test(digest)) {
    throw new UsageError(`--sha256 is ${echo(text)}, but must have 64 hexadecimal digits`);
  }
  return digest;
}

function adviceOnDigest({ official, from }: Source): string {
  return official
    ? "Try again. If the digest stays wrong, do not use this file, and report it to the authors of Kibitz."
    : `Compare the digest at its source with --sha256${from instanceof URL ? "" : ", and load the file again"}.`;
}

function adviceOnEngine({ official }: Source): string {
  return official
    ? `The official builds for Linux need glibc ${official.glibc} or newer. Install the package of your system instead, or another build with --from.`
    : "Choose a build for this system and processor.";
}

/** An official build must be what it claims to be. Other engines than Stockfish are not installed. */
function mustBeWanted({ id, name, family }: EngineBuild, { official }: Source): void {
  if (official ? id !== official.id : family !== preferredFamily) {
    throw new Error(
      `the engine calls itself ${echo(name)}, and not ${official?.name ?? "Stockfish"}, so it was not installed. To use another engine, name its file in KIBITZ_NATIVE_ENGINES.`,
    );
  }
}

interface Explained {
  readonly build: EngineBuild;
  readonly path: string;
  readonly folder: InstallFolder;
  readonly config: Config;
  readonly sandbox: Sandbox;
  readonly signal: AbortSignal;
}

/** Says who finds the new engine, and what keeps Kibitz from using it. */
async function explain(
  say: (line: string) => void,
  { build, path, folder, config, sandbox, signal }: Explained,
): Promise<void> {
  const { id, selfTestNodes } = build;
  say(
    folder.isCommon
      ? "Every user's Kibitz on this machine finds it. Restart a running server to use it."
      : `Only a Kibitz of the user ${userName()} finds it, and no service of another user: to install it for all users, run the command as root. Restart a running server to use it.`,
  );
  const { nativeEngines: files, searchPath, dataHome } = config;
  if (files) {
    say("KIBITZ_NATIVE_ENGINES is set: with this setting, Kibitz uses no installed engine.");
    return;
  }
  const builds = await buildsIn({ files, searchPath, dataHome }, config.hashMb, sandbox, signal);
  const used = builds.find((one) => one.id === id);
  if (used !== undefined && used.file !== (await realpath(path))) {
    say(`${used.file} has the same id and comes first: remove it to use the installed engine.`);
  }
  const wasm = wasmBuilds.find((one) => one.id === id);
  if (wasm !== undefined && wasm.selfTestNodes !== selfTestNodes) {
    say(
      `Its search differs from the search of ${wasm.name}, so ${id} stays WebAssembly unless a request asks for the path native.`,
    );
  }
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "this user";
  }
}

/** Adds the way out to an error of the file system. */
function systemError(error: unknown, { path, isCommon }: InstallFolder): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return new Error(`the disk of ${path} is full: ${message}. An installation needs 200 MB for a moment.`);
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "ENOTDIR":
      return new Error(
        `${message}. ${
          isCommon
            ? `Make ${path} writable, for example as a volume of the container; or run the command as the user of the service.`
            : "Name a folder that this user may write to in XDG_DATA_HOME, also for the service; or run the command as root."
        }`,
      );
    default:
      return error;
  }
}
