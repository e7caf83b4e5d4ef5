import { dirname } from "node:path";
import type { EngineBackend, EngineBuild, EngineSettings } from "../../engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { createChildProcess, type EngineCommand } from "../../uci/child-process.ts";
import { createUciSession } from "../../uci/session.ts";
import { defaultWatchTimes, type WatchTimes } from "../../uci/watch.ts";
import { discoverWasm } from "./discover.ts";

export function createWasmBackend(
  settings: EngineSettings,
  sandbox: Sandbox,
  times: WatchTimes = defaultWatchTimes,
): EngineBackend {
  return {
    path: "wasm",
    discover: () => discoverWasm(settings, sandbox),
    start: async (build, signal) =>
      createUciSession(build.settings, createChildProcess(commandOfWasm(build, sandbox)), times, signal),
  };
}

/**
 * Runs the engine in a separate process, which can be killed if the search does not stop. The process may read only the
 * engine's folder.
 */
export function commandOfWasm(
  { file, settings }: Pick<EngineBuild, "file" | "settings">,
  sandbox: Sandbox,
): EngineCommand {
  const permissions = [
    "--permission",
    `--allow-fs-read=${dirname(file)}`,
    // Disable node:sqlite, because it ignores the permission model.
    "--no-experimental-sqlite",
  ];
  return sandbox.wrap({ file: sandbox.node, args: [...permissions, file] }, settings);
}
