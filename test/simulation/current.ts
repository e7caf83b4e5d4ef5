import type { Clock } from "./clock.ts";
import { createRandom, type Random } from "./random.ts";

/** What the replaced modules use instead of the real clock and of real chance. */
interface Simulated {
  readonly clock: Clock;
  /** The random numbers of the running process. Each process has its own. */
  random(): Random;
  /** The results of `AbortSignal.any`, by the names of their processes. Node keeps such a signal while it has a listener. */
  readonly composites: Map<string, AbortSignal[]>;
}

let current: Simulated | undefined;

/** Only one simulation runs at a time. */
export function simulate(seed: number, clock: Clock): void {
  const streams = new Map<string, Random>();
  current = {
    clock,
    composites: new Map(),
    random() {
      const name = clock.current()?.name ?? "the world";
      const known = streams.get(name) ?? createRandom(`${seed}/chance of ${name}`);
      streams.set(name, known);
      return known;
    },
  };
}

/** Undefined before the first simulation, while modules are loaded. */
export function running(): Simulated | undefined {
  return current;
}

export function simulated(): Simulated {
  if (current === undefined) {
    throw new Error("no simulation runs");
  }
  return current;
}
