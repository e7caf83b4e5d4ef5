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

/** Logs each cause of a failure once until the store works again, because each cause may need another act of the operator. */
export function createStoreLog(
  log: Pick<Log, "info" | "warn">,
  { name, meanwhile, setDegraded = () => {} }: StoreLogOptions,
): StoreWatch {
  /** Reading and writing a store are separate entries, because a store on a full disk can still be read. */
  const failing = new Map<string, Set<string>>();
  return {
    failed(what, error) {
      const causes = failing.get(what) ?? new Set();
      failing.set(what, causes);
      if (!causes.has(error)) {
        causes.add(error);
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
