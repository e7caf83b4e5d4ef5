import { createNativeBackend } from "../engine/backends/native/index.ts";
import { createWasmBackend } from "../engine/backends/wasm/index.ts";
import { type Engines, type EnginesOptions, startEngines } from "../engine/engines.ts";
import { EngineUserUnusable } from "../engine/sandbox/engine-user.ts";
import { createSandbox, type Sandbox } from "../engine/sandbox/sandbox.ts";
import type { WatchTimes } from "../engine/uci/watch.ts";
import type { Log } from "../log/log.ts";
import { ConfigError } from "./config.ts";
import { readDescribedEngines } from "./read-described-engines.ts";
import type { Config } from "./settings.ts";

interface OpenEnginesOptions extends Pick<EnginesOptions, "asked"> {
  /** Called when the sandbox was created, and before an engine runs in this sandbox. */
  readonly onSandbox?: (sandbox: Sandbox) => void;
  readonly onStarted?: () => void;
  readonly times?: WatchTimes | undefined;
}

/** This file is separate, so that engines load their networks while Node still loads the other modules of the server. */
export async function openEngines(
  config: Config,
  log: Log,
  signal: AbortSignal,
  { asked, onSandbox, onStarted, times }: OpenEnginesOptions = {},
): Promise<Engines> {
  const { hashMb, threads, engineMemoryMb, defaultEngine, nativeEngines, searchPath, dataHome, wasmBuild } =
    config;
  const settings = { hashMb, threads };
  const described = await readDescribedEngines(config);
  const where = { files: nativeEngines, searchPath, dataHome, described };
  try {
    const sandbox = await createSandbox({ userName: config.engineUser, hide: config.dataDir });
    onSandbox?.(sandbox);
    const backends = [
      createWasmBackend(settings, sandbox, times, { fast: wasmBuild === "fast", log }),
      createNativeBackend(settings, where, sandbox, log, times),
    ];
    return await startEngines(
      {
        backends,
        defaultEngine,
        memoryMaxBytes: engineMemoryMb * 1e6,
        log,
        asked,
        onStarted,
      },
      signal,
    );
  } catch (error) {
    if (error instanceof EngineUserUnusable) {
      throw new ConfigError(`KIBITZ_ENGINE_USER: ${error.message}.`);
    }
    throw error;
  }
}
