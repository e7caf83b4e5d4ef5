import type { Log } from "../../../log.ts";
import type { EngineBackend, EngineSettings } from "../../engine.ts";
import { createChildProcess } from "../../uci/child-process.ts";
import { createUciSession } from "../../uci/session.ts";
import { defaultWatchTimes, type WatchTimes } from "../../uci/watch-times.ts";
import { commandOfNative } from "./command.ts";
import { discoverNative, type NativeSearch } from "./discover.ts";

/** UCI binaries on this machine. */
export function createNativeBackend(
  settings: EngineSettings,
  where: NativeSearch,
  log: Log,
  times: WatchTimes = defaultWatchTimes,
): EngineBackend {
  return {
    path: "native",
    discover: (signal) => discoverNative(where, settings, times, log, signal),
    start: async (build, signal) =>
      createUciSession(build, createChildProcess(commandOfNative(build)), times, signal),
  };
}
