import { realpath } from "node:fs/promises";
import type { Log } from "../../../log/log.ts";
import type { EngineBuild, EngineSettings } from "../../engine.ts";
import { fingerprintFiles } from "../../file-integrity.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { WatchTimes } from "../../uci/watch.ts";
import { discoverDescribed } from "./described.ts";
import { findExecutables, type NativeSearch } from "./find-executables.ts";
import { identify } from "./identify.ts";
import { createNativeStart, type UciStart } from "./start-native.ts";

/** Native engines answer `uci` within 0.1 s. A file that is not an engine must not delay the start for long. */
const greetingMaxMs = 5000;

/**
 * Finds the native binaries that support UCI and pass the self-test, and the engines that the operator describes. A described
 * engine that does not pass the test is listed with the reason.
 */
export async function discoverNative(
  where: NativeSearch,
  settings: EngineSettings,
  sandbox: Sandbox,
  times: WatchTimes,
  log: Log,
  signal: AbortSignal,
): Promise<readonly EngineBuild[]> {
  const culprit = where.files ? "KIBITZ_NATIVE_ENGINES names a file" : "an installed engine is a file";
  const onUnusable = (file: string, error: unknown) =>
    log.warn({ file, error: String(error) }, `${culprit} that cannot be run`);
  const { described: descriptions = [], searchPath } = where;
  const describing = Promise.all(
    descriptions.map((one) =>
      discoverDescribed(one, searchPath, settings, sandbox, createNativeStart(sandbox, times), log, signal),
    ),
  );
  const commands = await Promise.all(
    descriptions.map(({ command }) => realpath(command.path).catch(() => command.path)),
  );
  const found = await findExecutables(where, onUnusable);
  const start = createNativeStart(sandbox, { ...times, startMs: Math.min(times.startMs, greetingMaxMs) });
  const identified = (files: readonly string[]) =>
    Promise.all(
      files
        .filter((file) => !commands.includes(file))
        .map((file) => identifyFound(file, settings, sandbox, start, log, signal)),
    );
  const [described, named, installed] = await Promise.all([
    describing,
    identified(found.named),
    identified(found.installed),
  ]);
  const ids = new Set(described.map(({ id }) => id));
  const builds = new Map<string, EngineBuild>();
  // Two paths or folders may have the same engine: only the first is listed.
  const add = (build: EngineBuild) => {
    const { id, sha256 } = build;
    if (builds.has(sha256)) {
      return;
    }
    const added = ids.has(id) ? { ...build, id: `${id}-${sha256.slice(0, 8)}` } : build;
    builds.set(sha256, added);
    ids.add(added.id);
  };
  for (const build of named.flat()) {
    add(build);
  }
  const namedIds = new Set(named.flat().map(({ id }) => id));
  for (const build of installed.flat()) {
    // Leave out an installed engine if the PATH has one of the same id.
    if (!namedIds.has(build.id)) {
      add(build);
    }
  }
  return [...described, ...builds.values()];
}

async function identifyFound(
  candidate: string,
  settings: EngineSettings,
  sandbox: Sandbox,
  start: UciStart,
  log: Log,
  signal: AbortSignal,
): Promise<readonly EngineBuild[]> {
  try {
    const [file = candidate] = await sandbox.ensureReadable([candidate]);
    const integrity = await fingerprintFiles([file]);
    const found = await identify(start, { file, settings, launch: undefined }, integrity, log, signal);
    return [{ ...found, unavailableReason: undefined }];
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ file: candidate, error: String(error) }, "native engine left out");
    return [];
  }
}
