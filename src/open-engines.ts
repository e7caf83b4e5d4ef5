import type { Config } from "./config.ts";
import { createNativeBackend } from "./engine/backends/native/index.ts";
import { createWasmBackend } from "./engine/backends/wasm/index.ts";
import { type EngineRoom, openEngineRoom } from "./engine/room.ts";
import type { Log } from "./log.ts";

/**
 * The engine room that the settings ask for. Apart from `app.ts` because it is what takes longest:
 * engines load their networks while the modules of the server are still being read.
 *
 * @param onStarted told when the first engine loads.
 */
export function openEngines(
  config: Config,
  log: Log,
  signal: AbortSignal,
  onStarted?: () => void,
): Promise<EngineRoom> {
  const { hashMb, threads, slots, engineMemoryMb, defaultEngine, nativeEngines, searchPath } = config;
  const settings = { hashMb, threads };
  const backends = [
    createWasmBackend(settings),
    createNativeBackend(settings, { files: nativeEngines, searchPath }, log),
  ];
  return openEngineRoom(
    { backends, defaultEngine, idleMax: slots, memoryMaxBytes: engineMemoryMb * 1e6, log, onStarted },
    signal,
  );
}
