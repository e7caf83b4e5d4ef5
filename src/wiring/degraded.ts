import type { Log } from "../log/log.ts";
import type { StoreWatch } from "../storage/ports.ts";

type SetDegraded = (isDegraded: boolean) => void;

/** If a part is degraded, the service runs on with less than it is configured to have. */
export interface Degraded {
  /** A part is not degraded at first. */
  part(name: string): SetDegraded;
  /** All registered parts, each with true if it is degraded. */
  parts(): Readonly<Record<string, boolean>>;
  /** The degraded parts, for `GET /readyz`. */
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
  readonly name: string;
  /** A sentence that describes how the service runs while the store cannot be used. */
  readonly meanwhile: string;
  readonly setDegraded?: SetDegraded | undefined;
}

/** Logs once when the store cannot be read or written, however often that fails, and once when it works again. */
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
