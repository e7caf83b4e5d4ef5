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
