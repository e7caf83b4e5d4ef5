import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SearchResult } from "../analysis/analysis.ts";
import { resultFromJson, resultVersion } from "../analysis/read-result.ts";
import type { Log } from "../log/log.ts";
import type { AnswerStore } from "../storage/ports.ts";
import { answerFileName, openSqliteAnswerStore } from "../storage/sqlite/answer-store.ts";
import { createStoreLog, type Degraded } from "./degraded.ts";
import type { Config } from "./settings.ts";

/** Returns undefined if the settings turn the store off. If the file cannot be used, the store retries. */
export function openStore(
  { storeMb, dataDir }: Pick<Config, "storeMb" | "dataDir">,
  log: Pick<Log, "info" | "warn">,
  degraded?: Degraded,
): AnswerStore<SearchResult> | undefined {
  if (storeMb === 0) {
    return undefined;
  }
  return openSqliteAnswerStore(dataDir, {
    bytes: storeMb * 1e6,
    format: { version: resultVersion, read: resultFromJson },
    watch: createStoreLog(log, {
      name: "stored answers",
      meanwhile: "their file is deleted and begun anew",
      setDegraded: degraded?.part("stored_answers"),
    }),
  });
}

export function hasStore({ dataDir }: Pick<Config, "dataDir">): boolean {
  return existsSync(join(dataDir, answerFileName));
}
