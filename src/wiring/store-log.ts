import type { Log } from "../log/log.ts";
import type { StoreWatch } from "../storage/ports.ts";
import type { SetDegraded } from "./degraded.ts";

interface StoreLogOptions {
  /** Name of the store in the log. */
  readonly name?: string;
  /** How the service runs while the store cannot be used. */
  readonly meanwhile?: string;
  readonly setDegraded?: SetDegraded | undefined;
}

/** Logs once when a store cannot be read or written, however often that fails, and once when it can be again. */
export function createStoreLog(
  log: Pick<Log, "info" | "warn">,
  {
    name = "the database",
    meanwhile = "analyses continue, their usage is kept in memory, and changes to keys have to wait",
    setDegraded = () => {},
  }: StoreLogOptions = {},
): StoreWatch {
  /** Reads and writes fail separately: a full disk can still be read. */
  const failing = new Set<string>();
  return {
    failed(what, error) {
      if (!failing.has(what)) {
        failing.add(what);
        setDegraded(true);
        log.warn({ error }, `${name} cannot be ${past[what]}: ${meanwhile}`);
      }
    },
    worked(what) {
      if (failing.delete(what)) {
        setDegraded(failing.size > 0);
        log.info({}, `${name} can be ${past[what]} again`);
      }
    },
  };
}

const past = { read: "read", write: "written" } as const;
