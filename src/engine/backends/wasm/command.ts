import { dirname } from "node:path";
import type { Cage } from "../../cage/cage.ts";
import type { EngineBuild } from "../../engine.ts";
import type { EngineCommand } from "../../uci/child-process.ts";

/**
 * A Node process of its own, because a search that can't be stopped can only be killed from outside,
 * and with Node's permissions of its own: the engine may read its folder and nothing else.
 */
export function commandOfWasm(
  { file, settings }: Pick<EngineBuild, "file" | "settings">,
  cage: Cage,
): EngineCommand {
  const permissions = [
    "--permission",
    `--allow-fs-read=${dirname(file)}`,
    // node:sqlite does not ask the permission model.
    "--no-experimental-sqlite",
  ];
  return cage.around({ file: cage.node, args: [...permissions, file] }, settings);
}
