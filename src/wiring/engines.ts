import { createNativeBackend } from "../engine/backends/native/index.ts";
import { createWasmBackend } from "../engine/backends/wasm/index.ts";
import { type Engines, startEngines } from "../engine/engines.ts";
import { EngineUserUnusable } from "../engine/sandbox/engine-user.ts";
import { createSandbox, type Sandbox } from "../engine/sandbox/sandbox.ts";
import type { Log } from "../log/log.ts";
import { ConfigError } from "./config.ts";
import type { Config } from "./settings.ts";

/**
 * The engines that the settings ask for. Apart from `app.ts` because it is what takes longest:
 * engines load their networks while the modules of the server are still being read.
 *
 * @param onStarted told when the first engine loads.
 */
export async function openEngines(
  config: Config,
  log: Log,
  signal: AbortSignal,
  onStarted?: () => void,
): Promise<Engines> {
  const { hashMb, threads, slots, engineMemoryMb, defaultEngine, nativeEngines, searchPath } = config;
  const settings = { hashMb, threads };
  try {
    await using opened = new AsyncDisposableStack();
    const sandbox = opened.use(await openCage(config, log));
    const backends = [
      createWasmBackend(settings, sandbox),
      createNativeBackend(settings, { files: nativeEngines, searchPath }, sandbox, log),
    ];
    const running = opened.use(
      await startEngines(
        { backends, defaultEngine, idleMax: slots, memoryMaxBytes: engineMemoryMb * 1e6, log, onStarted },
        signal,
      ),
    );
    const kept = opened.move();
    return { ...running, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  } catch (error) {
    if (error instanceof EngineUserUnusable) {
      throw new ConfigError(`KIBITZ_ENGINE_USER: ${error.message}.`);
    }
    throw error;
  }
}

/**
 * The sandbox that engines run in.
 *
 * @throws EngineUserUnusable
 */
export async function openCage({ engineUser, dataDir }: Config, log: Log): Promise<Sandbox> {
  const sandbox = await createSandbox({ userName: engineUser, hide: dataDir });
  const { user, holds, lacks } = sandbox;
  const tell = lacks.length === 0 ? log.info : log.warn;
  tell.call(log, { user: user?.name ?? "the server's", holds, lacks }, "engine sandbox");
  return sandbox;
}
