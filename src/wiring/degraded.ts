import type { Log } from "../log/log.ts";
import type { StoreWatch } from "../storage/ports.ts";

type SetDegraded = (isDegraded: boolean) => void;

/** While a part such as a store is degraded, the service still runs, but with fewer functions. */
export interface Degraded {
  /** Registers a part, which is not degraded at first. Returns a function that changes the state of the part. */
  part(name: string): SetDegraded;
  parts(): Readonly<Record<string, boolean>>;
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
  /** A sentence for the log: how the service behaves while the store cannot be used. */
  readonly meanwhile: string;
  readonly setDegraded?: SetDegraded | undefined;
}

/** Logs the first failure of a store, and the first success after a failure. */
export function createStoreLog(
  log: Pick<Log, "info" | "warn">,
  { name, meanwhile, setDegraded = () => {} }: StoreLogOptions,
): StoreWatch {
  /** Reading and writing a store are separate entries, because a store on a full disk can still be read. */
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
