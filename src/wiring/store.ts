import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Findings } from "../analysis/analysis.ts";
import { findingsFromJson, findingsVersion } from "../analysis/read-findings.ts";
import type { Log } from "../log/log.ts";
import type { AnswerStore, AnswerStoreWatch } from "../storage/ports.ts";
import { answerFileName, openSqliteAnswerStore } from "../storage/sqlite/answer-store.ts";
import type { Degraded, SetDegraded } from "./degraded.ts";
import type { Config } from "./settings.ts";
import { createStoreLog } from "./store-log.ts";

type StoreLog = Pick<Log, "info" | "warn">;

/**
 * Stored answers, as the settings say; undefined where there are none. Whatever is wrong with their file is for the log alone, and
 * tried again. Disposing of them writes the rest.
 */
export function openStore(
  { storeMb, dataDir }: Pick<Config, "storeMb" | "dataDir">,
  log: StoreLog,
  degraded?: Degraded,
): AnswerStore<Findings> | undefined {
  if (storeMb === 0) {
    return undefined;
  }
  return openSqliteAnswerStore(dataDir, {
    bytes: storeMb * 1e6,
    format: { version: findingsVersion, read: findingsFromJson },
    watch: createAnswerLog(log, degraded?.part("stored_answers")),
  });
}

/** Whether answers were stored there before. */
export function hasStore({ dataDir }: Pick<Config, "dataDir">): boolean {
  return existsSync(join(dataDir, answerFileName));
}

function createAnswerLog(log: StoreLog, setDegraded?: SetDegraded): AnswerStoreWatch {
  return {
    ...createStoreLog(log, {
      name: "stored answers",
      meanwhile: "what they would have answered is searched",
      setDegraded,
    }),
    setAside: (file, error) =>
      log.warn(
        { file, error },
        "stored answers could not be used: their file was set aside, and is begun anew",
      ),
  };
}
