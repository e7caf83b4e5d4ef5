import type { EngineBuild } from "../../engine.ts";
import type { EngineCommand } from "../../uci/child-process.ts";

export function commandOfNative({ file }: Pick<EngineBuild, "file">): EngineCommand {
  return { file, args: [] };
}
