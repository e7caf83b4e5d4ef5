import type { Log } from "../log/log.ts";
import type { StoreWatch } from "../storage/ports.ts";

/** A function to call with true when a part of the service becomes degraded, and with false when the part has recovered. */
export type SetDegraded = (isDegraded: boolean) => void;

/** The parts of the service that can be degraded. If one is, the service runs on with less than it is configured to have. */
export interface Degraded {
  /** Registers a part of the service by its name. The part is not degraded at first. */
  part(name: string): SetDegraded;
  /** Returns all registered parts by name, each with true if it is degraded. */
  parts(): Readonly<Record<string, boolean>>;
  /** Returns the names of the degraded parts, for `GET /readyz`. */
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
  /** The name of the store in the log. */
  readonly name: string;
  /** A sentence for the log that describes how the service runs while the store cannot be used. */
  readonly meanwhile: string;
  readonly setDegraded?: SetDegraded | undefined;
}

/**
 * Creates a log of a store. It logs once when the store cannot be read or written, however often that fails, and once when the
 * store works again.
 */
export function createStoreLog(
  log: Pick<Log, "info" | "warn">,
  { name, meanwhile, setDegraded = () => {} }: StoreLogOptions,
): StoreWatch {
  /** The operations that fail. Reads and writes are separate, because a full disk can still be read. */
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
