/** Told when a part of the service begins to do without what it should have, and when that has ended. */
export type TellDegraded = (isDegraded: boolean) => void;

/** Which parts of the service do without what they should have. */
export interface Degraded {
  /** Begins to know a part, which is well until it is told otherwise. */
  part(name: string): TellDegraded;
  /** All that are known, by name, and whether they are degraded. */
  parts(): Readonly<Record<string, boolean>>;
  /** Those that are, as `GET /readyz` tells. */
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
