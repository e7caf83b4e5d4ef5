import type { Cage } from "../../cage/cage.ts";
import type { EngineBuild } from "../../engine.ts";
import type { EngineCommand } from "../../uci/child-process.ts";

export function commandOfNative(
  { file, settings }: Pick<EngineBuild, "file" | "settings">,
  cage: Cage,
): EngineCommand {
  return cage.around({ file, args: [] }, settings);
}
