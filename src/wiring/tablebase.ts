import { readdirSync } from "node:fs";
import type { Log } from "../log/log.ts";
import { openTablebase, type Tablebase } from "../tablebase/tablebase.ts";
import type { Config } from "./settings.ts";

/** Opens the endgame tables. A folder that cannot be read is a warning. Without the setting, only finished games are known. */
export function openTables(
  { syzygy = [] }: Pick<Config, "syzygy">,
  log: Pick<Log, "warn">,
): Promise<Tablebase> {
  return openTablebase(syzygy, {
    onProblem: (path, problem) => log.warn({ path }, `endgame table: ${path} ${problem}`),
  });
}

/** Each file that was used stays open. */
export function tableFilesIn(folders: Config["syzygy"] = []): number {
  return folders
    .flatMap((folder) => {
      try {
        return readdirSync(folder);
      } catch {
        // `openTables` reports this error.
        return [];
      }
    })
    .filter((name) => /\.rtb[wz]$/.test(name)).length;
}
