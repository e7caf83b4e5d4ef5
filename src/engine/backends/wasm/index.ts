import type { Cage } from "../../cage/cage.ts";
import type { EngineBackend, EngineSettings } from "../../engine.ts";
import { createChildProcess } from "../../uci/child-process.ts";
import { createUciSession } from "../../uci/session.ts";
import { defaultWatchTimes, type WatchTimes } from "../../uci/watch-times.ts";
import { commandOfWasm } from "./command.ts";
import { discoverWasm } from "./discover.ts";

/** Stockfish compiled to WebAssembly, from npm. */
export function createWasmBackend(
  settings: EngineSettings,
  cage: Cage,
  times: WatchTimes = defaultWatchTimes,
): EngineBackend {
  return {
    path: "wasm",
    discover: () => discoverWasm(settings, cage),
    start: async (build, signal) =>
      createUciSession(build, createChildProcess(commandOfWasm(build, cage)), times, signal),
  };
}
