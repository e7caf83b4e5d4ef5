import type { Log } from "../log/log.ts";
import type { StoreWatch } from "./ports.ts";

/** Says once that the database cannot be read or written, however often it is tried, and once that it can again. */
export function createStoreLog(log: Pick<Log, "info" | "warn">): StoreWatch {
  /** Apart: a full disk is read as ever. */
  const failing = new Set<string>();
  return {
    failed(what, error) {
      if (!failing.has(what)) {
        failing.add(what);
        log.warn(
          { error },
          `the database cannot be ${past[what]}: analyses continue, their usage is kept in memory, and changes to keys have to wait`,
        );
      }
    },
    worked(what) {
      if (failing.delete(what)) {
        log.info({}, `the database can be ${past[what]} again`);
      }
    },
  };
}

const past = { read: "read", write: "written" } as const;
