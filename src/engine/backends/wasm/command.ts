import { dirname } from "node:path";
import type { EngineBuild } from "../../engine.ts";
import type { EngineCommand } from "../../uci/child-process.ts";

/**
 * A Node process of its own, because a search that can't be stopped can only be killed from outside,
 * and in a cage: the engine may read its own folder and nothing else.
 */
export function commandOfWasm({ file }: EngineBuild): EngineCommand {
  const cage = [
    "--permission",
    `--allow-fs-read=${dirname(file)}`,
    // node:sqlite does not ask the permission model.
    "--no-experimental-sqlite",
  ];
  return { file: process.execPath, args: [...cage, file] };
}
