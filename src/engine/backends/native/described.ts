import { createHash } from "node:crypto";
import { access, constants, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Log } from "../../../log/log.ts";
import type { EngineBuild, EngineLaunch, EngineSettings, OptionTexts } from "../../engine.ts";
import { fingerprintFiles } from "../../file-integrity.ts";
import { profileOf, type SearchLimit } from "../../profiles.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { int32Of } from "../../uci/options.ts";
import { identify, leftOutBuild } from "./identify.ts";
import type { UciStart } from "./start-native.ts";

/** An engine as the operator describes it in the file that KIBITZ_ENGINES names. */
export interface EngineDescription {
  readonly id: string;
  readonly command: DescribedFile;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: readonly DescribedFile[];
  /** The values of options, by their names in the engine. */
  readonly options: Readonly<Record<string, number | boolean | string>>;
  readonly instances: number | undefined;
  readonly memoryMb: number | undefined;
  readonly startMs: number | undefined;
  readonly defaultLimit: SearchLimit | undefined;
}

export interface DescribedFile {
  /** The path in the description. */
  readonly written: string;
  readonly path: string;
}

/**
 * Tests a described engine. If the engine is not usable, returns a build that is listed and never started, and logs the reason.
 * @param searchPath the environment variable PATH of the engine, if the description has none
 */
export async function discoverDescribed(
  description: EngineDescription,
  searchPath: string,
  usual: EngineSettings,
  sandbox: Sandbox,
  start: UciStart,
  log: Log,
  signal: AbortSignal,
): Promise<EngineBuild> {
  const { id, command, files, options } = description;
  const settings = settingsOf(options, usual);
  const here = { file: command.path, settings, launch: undefined };
  try {
    await assertUsable(description);
    const paths = [command, ...files].map(({ path }) => path);
    const [file = command.path, ...copies] = await sandbox.ensureReadable(paths);
    const launch = launchOf(description, copies, searchPath);
    const integrity = await fingerprintFiles([file, ...copies]);
    const found = await identify(start, { file, settings, launch }, integrity, log, signal);
    const { defaultLimit = found.defaultLimit } = description;
    if (defaultLimit.depth !== undefined && !profileOf(found.family).hasDepth) {
      throw new Error("it does not search by depth: give `nodes` in its `default_limit`");
    }
    return { ...found, id, defaultLimit, unavailableReason: undefined };
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    log.warn({ engine: id, file: command.path, error: reason }, "described engine left out");
    return leftOutBuild(id, publicReason(reason, description), here);
  }
}

/** Throws if a file is missing. */
async function assertUsable({ command, files }: EngineDescription): Promise<void> {
  await assertFile("the command", command.path, constants.X_OK, "cannot be executed");
  for (const { path } of files) {
    await assertFile("the file", path, constants.R_OK, "cannot be read");
  }
}

async function assertFile(what: string, path: string, mode: number, problem: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) {
    throw new Error(`${what} ${path} ${found ? "is not a file" : "does not exist"}`);
  }
  await access(path, mode).catch(() => {
    throw new Error(`${what} ${path} ${problem}`);
  });
}

/** The reason is shown to clients, so it must not contain the folders of this machine. */
function publicReason(reason: string, { command, files }: EngineDescription): string {
  const shown = [command, ...files].reduce((text, { path }) => text.replaceAll(path, basename(path)), reason);
  const line = shown.replace(/\s+/g, " ").slice(0, reasonMaxChars).toWellFormed();
  return /[.?]$/.test(line) ? line : `${line}.`;
}

const reasonMaxChars = 300;

/** The options of an engine that Kibitz knows as settings. An invalid value is ignored here: the engine is left out. */
function settingsOf({ Threads, Hash }: EngineDescription["options"], usual: EngineSettings): EngineSettings {
  return { threads: sizeFrom(Threads) ?? usual.threads, hashMb: sizeFrom(Hash) ?? usual.hashMb };
}

function sizeFrom(value: number | boolean | string | undefined): number | undefined {
  const size = int32Of(String(value));
  return size !== undefined && size >= 0 ? size : undefined;
}

function launchOf(
  { args, env, files, options, instances, memoryMb, startMs }: EngineDescription,
  copies: readonly string[],
  searchPath: string,
): EngineLaunch {
  const copyOf = new Map(
    files.flatMap(({ written, path }, index) => {
      const copy = copies[index] ?? path;
      return [[written, copy] as const, [path, copy] as const];
    }),
  );
  const texts: OptionTexts = new Map(
    Object.entries(options).map(([name, value]) => [name, copyOf.get(String(value)) ?? String(value)]),
  );
  return {
    args: args.map((arg) => withCopy(arg, copyOf)),
    env: { PATH: searchPath, ...env },
    options: texts,
    instances,
    memoryMb,
    startMs,
    digest: createHash("sha256")
      .update(JSON.stringify([args, env, options]))
      .digest("hex"),
  };
}

/** Replaces a file in `file` or `--name=file`. */
function withCopy(arg: string, copyOf: ReadonlyMap<string, string>): string {
  const [, before = "", file = arg] = /^(-[^=]*=)(.*)$/s.exec(arg) ?? [];
  return before + (copyOf.get(file) ?? file);
}
