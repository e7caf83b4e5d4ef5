import type { EngineBuild, EngineSession } from "./engine.ts";

/** What engines take, in bytes: as the system says, and for one that is not started yet as builds like it took. */
export interface EngineMemory {
  /** Of engines that run. */
  of(sessions: Iterable<EngineSession>): number;
  /** Of an engine before it is started. */
  expected(build: EngineBuild): number;
}

/** Measured after a search: Stockfish 19 in WebAssembly, 16 MiB of hash. A native engine takes less. */
const typicalBytes = { full: 490e6, lite: 130e6 } as const;

export function createEngineMemory(): EngineMemory {
  /** The most that an engine of the build was seen to take. */
  const seen = new Map<EngineBuild, number>();
  const expected = (build: EngineBuild) => seen.get(build) ?? typicalBytes[build.net];
  return {
    expected,
    of(sessions) {
      let sum = 0;
      for (const session of sessions) {
        const bytes = session.memoryBytes();
        if (bytes !== undefined) {
          seen.set(session.build, Math.max(bytes, seen.get(session.build) ?? 0));
        }
        sum += bytes ?? expected(session.build);
      }
      return sum;
    },
  };
}
