import type { Log } from "../log/log.ts";
import type { StoreWatch } from "../storage/ports.ts";
import type { TellDegraded } from "./degraded.ts";

interface StoreLogOptions {
  /** Of the store. */
  readonly name?: string;
  /** What happens as long as it cannot be used. */
  readonly meanwhile?: string;
  /** Told when that begins and ends. */
  readonly tellDegraded?: TellDegraded | undefined;
}

/** Says once that a store cannot be read or written, however often it is tried, and once that it can again. */
export function createStoreLog(
  log: Pick<Log, "info" | "warn">,
  {
    name = "the database",
    meanwhile = "analyses continue, their usage is kept in memory, and changes to keys have to wait",
    tellDegraded = () => {},
  }: StoreLogOptions = {},
): StoreWatch {
  /** Apart: a full disk is read as ever. */
  const failing = new Set<string>();
  return {
    failed(what, error) {
      if (!failing.has(what)) {
        failing.add(what);
        tellDegraded(true);
        log.warn({ error }, `${name} cannot be ${past[what]}: ${meanwhile}`);
      }
    },
    worked(what) {
      if (failing.delete(what)) {
        tellDegraded(failing.size > 0);
        log.info({}, `${name} can be ${past[what]} again`);
      }
    },
  };
}

const past = { read: "read", write: "written" } as const;
