import { dirname } from "node:path";
import type { EngineBackend, EngineBuild, EngineSettings } from "../../engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { createChildProcess, type EngineCommand } from "../../uci/child-process.ts";
import { createUciSession } from "../../uci/session.ts";
import { defaultWatchTimes, type WatchTimes } from "../../uci/watch.ts";
import { discoverWasm } from "./discover.ts";

/** Creates the backend that runs Stockfish compiled to WebAssembly, from npm. */
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
 * Returns the command that runs a WebAssembly engine in a Node process of its own, because only a process can be killed if its
 * search does not stop. Node's permission model lets the engine read its own folder and nothing else.
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
