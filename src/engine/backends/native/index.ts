import type { Log } from "../../../log/log.ts";
import type { EngineBackend, EngineSettings } from "../../engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { defaultWatchTimes, type WatchTimes } from "../../uci/watch.ts";
import { discoverNative } from "./discover.ts";
import type { NativeSearch } from "./find-executables.ts";
import { createNativeStart } from "./start-native.ts";

export function createNativeBackend(
  settings: EngineSettings,
  where: NativeSearch,
  sandbox: Sandbox,
  log: Log,
  times: WatchTimes = defaultWatchTimes,
): EngineBackend {
  return {
    path: "native",
    discover: (signal) => discoverNative(where, settings, sandbox, times, log, signal),
    start: createNativeStart(sandbox, times),
  };
}
