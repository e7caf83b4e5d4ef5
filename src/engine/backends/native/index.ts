import type { Log } from "../../../log/log.ts";
import type { Cage } from "../../cage/cage.ts";
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
  cage: Cage,
  log: Log,
  times: WatchTimes = defaultWatchTimes,
): EngineBackend {
  return {
    path: "native",
    discover: (signal) => discoverNative(where, settings, cage, times, log, signal),
    start: async (build, signal) =>
      createUciSession(build, createChildProcess(commandOfNative(build, cage)), times, signal),
  };
}
