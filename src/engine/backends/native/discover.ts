import type { Log } from "../../../log/log.ts";
import type { EngineBuild, EngineSettings } from "../../engine.ts";
import { fingerprintFiles } from "../../file-integrity.ts";
import { identityFromName, profileOf } from "../../profiles.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { selfTest } from "../../self-test.ts";
import { createChildProcess } from "../../uci/child-process.ts";
import { createUciSession } from "../../uci/session.ts";
import type { WatchTimes } from "../../uci/watch.ts";
import { findExecutables, type NativeSearch } from "./find-executables.ts";

/** Native engines answer `uci` within 0.1 s. A file that is not an engine must not delay the start for long. */
const greetingMaxMs = 5000;

/** Finds the native binaries that support UCI and pass the self-test. */
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
  const found = await findExecutables(where, onUnusable);
  const identified = (files: readonly string[]) =>
    Promise.all(files.map((file) => identify(file, settings, sandbox, times, log, signal)));
  const [named, installed] = await Promise.all([identified(found.named), identified(found.installed)]);
  const builds = new Map<string, EngineBuild>();
  const isTaken = (id: string) => builds.values().some((other) => other.id === id);
  for (const build of named.flat()) {
    const { id, sha256 } = build;
    if (!builds.has(sha256)) {
      builds.set(sha256, isTaken(id) ? { ...build, id: `${id}-${sha256.slice(0, 8)}` } : build);
    }
  }
  for (const build of installed.flat()) {
    // Leave out an installed engine if the PATH has one of the same id.
    if (!isTaken(build.id)) {
      builds.set(build.sha256, build);
    }
  }
  return [...builds.values()];
}

async function identify(
  candidate: string,
  settings: EngineSettings,
  sandbox: Sandbox,
  times: WatchTimes,
  log: Log,
  signal: AbortSignal,
): Promise<readonly EngineBuild[]> {
  try {
    const [file = candidate] = await sandbox.ensureReadable([candidate]);
    const integrity = await fingerprintFiles([file]);
    await using session = await createUciSession(
      settings,
      createChildProcess(sandbox.wrap({ file, args: [] }, settings)),
      { ...times, startMs: Math.min(times.startMs, greetingMaxMs) },
      signal,
    );
    const identity = identityFromName(session.info.name);
    if (identity === undefined) {
      throw new Error("it reports no name");
    }
    const profile = profileOf(identity.family);
    const selfTestNodes = await selfTest(session, profile, settings.threads, signal);
    // Throw if the file was replaced after its digest was computed.
    await integrity.assertUnchanged();
    const reproducible = selfTestNodes !== undefined;
    if (!reproducible && profile.isReproducible && settings.threads === 1) {
      const { id: engine } = identity;
      log.warn(
        { engine, path: "native" },
        "equal searches of this engine differ: its answers are not deterministic",
      );
    }
    // Native builds are never deprecated, because the operator decides how long a native build stays on this machine.
    const deprecatedSince = undefined;
    const found = { ...session.info, ...identity, file, ...integrity };
    return [{ ...found, path: "native", settings, reproducible, selfTestNodes, deprecatedSince }];
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ file: candidate, error: String(error) }, "native engine left out");
    return [];
  }
}
