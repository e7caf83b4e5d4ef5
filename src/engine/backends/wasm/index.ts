import { dirname } from "node:path";
import { type Log, silentLog } from "../../../log/log.ts";
import type { EngineBackend, EngineSettings } from "../../engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { createChildProcess, type EngineCommand } from "../../uci/child-process.ts";
import { createUciSession } from "../../uci/session.ts";
import { defaultWatchTimes, type WatchTimes } from "../../uci/watch.ts";
import { type DiscoverOptions, discoverWasm } from "./discover.ts";
import { commandOfHost, endedAtStart, hearRefusal, type WasmEngine } from "./fast.ts";

interface WasmOptions extends DiscoverOptions {
  readonly log?: Log;
}

export function createWasmBackend(
  settings: EngineSettings,
  sandbox: Sandbox,
  times: WatchTimes = defaultWatchTimes,
  { log = silentLog, ...options }: WasmOptions = {},
): EngineBackend {
  async function start(build: WasmEngine, signal: AbortSignal) {
    // Read this value now, because another start of the build may fall back while this start runs.
    const isHosted = build.hosted !== undefined;
    const engine = hearRefusal(createChildProcess(commandOfWasm(build, sandbox)));
    try {
      return await createUciSession(build.settings, engine, times, signal);
    } catch (error) {
      if (!isHosted || build.fallBack === undefined || !endedAtStart(error)) {
        throw error;
      }
      const reason = engine.refusal() ?? error.message;
      if (build.slowerBecause === undefined) {
        log.warn({ engine: build.id, path: build.path, error: reason }, "a slower build runs instead");
      }
      const slower = { ...build.fallBack(reason), settings: build.settings };
      await slower.assertGenuine();
      return start(slower, signal);
    }
  }

  return {
    path: "wasm",
    discover: () => discoverWasm(settings, sandbox, options),
    start,
  };
}

/**
 * Runs the engine in a separate process, which can be killed if the search does not stop. The process may read only the
 * engine's folder.
 */
export function commandOfWasm(
  build: Pick<WasmEngine, "file" | "settings" | "hosted" | "files">,
  sandbox: Sandbox,
): EngineCommand {
  if (build.hosted !== undefined) {
    return commandOfHost(build, sandbox);
  }
  const { file, settings } = build;
  const permissions = [
    "--permission",
    `--allow-fs-read=${dirname(file)}`,
    // Disable node:sqlite, because it ignores the permission model.
    "--no-experimental-sqlite",
  ];
  return sandbox.wrap({ file: sandbox.node, args: [...permissions, file] }, settings);
}
