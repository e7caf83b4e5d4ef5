import { readdirSync } from "node:fs";
import type { Log } from "../log/log.ts";
import { materialFromName } from "../tablebase/material.ts";
import { openTablebase, type Tablebase } from "../tablebase/tablebase.ts";
import type { Config } from "./settings.ts";

/**
 * Opens the endgame tables until `open` is disposed. A folder that cannot be read is a warning. Without the setting, only finished
 * games are known. Call this before the engines are ready: to list hundreds of tables takes as long as the start of an engine.
 */
export function openTables(
  { syzygy = [] }: Pick<Config, "syzygy">,
  log: Pick<Log, "warn">,
  open: AsyncDisposableStack,
): Promise<Tablebase> {
  const opening = openTablebase(syzygy, {
    onProblem: (path, problem) => log.warn({ path }, `endgame table: ${path} ${problem}`),
  });
  return open.adopt(opening, async () => (await opening)[Symbol.asyncDispose]());
}

/** Returns the number of files that may be used, each of which then stays open. Of files with equal names, only one is used. */
export function tableFilesIn(folders: Config["syzygy"] = []): number {
  const names = folders.flatMap((folder) => {
    try {
      return readdirSync(folder);
    } catch {
      // `openTables` reports this error.
      return [];
    }
  });
  return new Set(names.filter((name) => materialFromName(/^(\w+)\.rtb[wz]$/.exec(name)?.[1] ?? ""))).size;
}
