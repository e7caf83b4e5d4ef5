import type { Log } from "../log/log.ts";
import type { StoreWatch } from "../storage/ports.ts";

/** Call with true when a part of the service becomes degraded, and with false when it has recovered. */
export type SetDegraded = (isDegraded: boolean) => void;

/** The parts of the service that can be degraded: the service runs on, with less than it is configured to have. */
export interface Degraded {
  /** Registers a part, which is not degraded at first. */
  part(name: string): SetDegraded;
  /** All registered parts by name, and whether they are degraded. */
  parts(): Readonly<Record<string, boolean>>;
  /** The names of the degraded parts, for `GET /readyz`. */
  names(): readonly string[];
}

export function createDegraded(): Degraded {
  const known = new Map<string, boolean>();
  return {
    part(name) {
      known.set(name, false);
      return (isDegraded) => void known.set(name, isDegraded);
    },
    parts: () => Object.fromEntries(known),
    names: () => [...known].flatMap(([name, isDegraded]) => (isDegraded ? [name] : [])),
  };
}

interface StoreLogOptions {
  /** Name of the store in the log. */
  readonly name: string;
  /** How the service runs while the store cannot be used. */
  readonly meanwhile: string;
  readonly setDegraded?: SetDegraded | undefined;
}

/** Logs once when a store cannot be read or written, however often that fails, and once when it can be again. */
export function createStoreLog(
  log: Pick<Log, "info" | "warn">,
  { name, meanwhile, setDegraded = () => {} }: StoreLogOptions,
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
