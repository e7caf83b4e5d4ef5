import { dirname } from "node:path";
import type { EngineBackend, EngineBuild, EngineSettings } from "../../engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { createChildProcess, type EngineCommand } from "../../uci/child-process.ts";
import { createUciSession } from "../../uci/session.ts";
import { defaultWatchTimes, type WatchTimes } from "../../uci/watch.ts";
import { discoverWasm } from "./discover.ts";

/** Stockfish compiled to WebAssembly, from npm. */
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
 * Runs the engine in a Node process of its own, because a search that does not stop can only be killed from outside. By
 * Node's permission model, the engine may read its own folder and nothing else.
 */
export function commandOfWasm(
  { file, settings }: Pick<EngineBuild, "file" | "settings">,
  sandbox: Sandbox,
): EngineCommand {
  const permissions = [
    "--permission",
    `--allow-fs-read=${dirname(file)}`,
    // node:sqlite ignores the permission model.
    "--no-experimental-sqlite",
  ];
  return sandbox.wrap({ file: sandbox.node, args: [...permissions, file] }, settings);
}
