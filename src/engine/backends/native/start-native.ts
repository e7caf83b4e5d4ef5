import type { EngineBuild, EngineSession } from "../../engine.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { createChildProcess } from "../../uci/child-process.ts";
import { createUciSession } from "../../uci/session.ts";
import type { WatchTimes } from "../../uci/watch.ts";

export type UciStart = (
  build: Pick<EngineBuild, "file" | "settings" | "launch">,
  signal: AbortSignal,
) => Promise<EngineSession>;

/** Starts native engines in the sandbox, as the operator has described them. */
export function createNativeStart(sandbox: Sandbox, times: WatchTimes): UciStart {
  return async ({ file, settings, launch }, signal) =>
    createUciSession(
      settings,
      createChildProcess(
        sandbox.wrap({ file, args: launch?.args ?? [], env: launch?.env }, settings, launch?.memoryMb),
      ),
      { ...times, startMs: launch?.startMs ?? times.startMs },
      signal,
      launch?.options,
    );
}
