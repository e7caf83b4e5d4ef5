import { assertMayFollow, type Transitions } from "../errors/errors.ts";
import type { EngineBuild, EngineSession } from "./engine.ts";

/**
 * Where an engine of the pool is:
 *
 *     waiting ──its turn──▶ loading ──started──▶ lent ──given back──▶ idle
 *                                                │ ▲                  │ │
 *                                                │ └───────lent───────┘ │
 *                                                │                      │
 *                                                └─▶ closing ──▶ gone   │  worn, or all are closed
 *                                                       ▲               │
 *                                                       └───────────────┘  too many, or short of memory
 *
 *     waiting, loading ──failed, or its caller left──▶ gone
 *     lent, idle ──it died──▶ gone
 *
 * What takes memory is loading, lent or idle: that of one that closes comes back in a moment.
 */
export type PlaceState =
  | { readonly kind: "waiting" | "loading" | "closing" | "gone" }
  | { readonly kind: "lent" | "idle"; readonly session: EngineSession };

type PlaceKind = PlaceState["kind"];

const transitions: Transitions<PlaceKind> = {
  waiting: ["loading", "gone"],
  loading: ["lent", "gone"],
  lent: ["idle", "closing", "gone"],
  idle: ["lent", "closing", "gone"],
  closing: ["gone"],
  gone: [],
};

export interface Place {
  readonly build: EngineBuild;
  readonly state: PlaceState;
}

/** A place with an engine that can be lent, or is. */
export interface Manned extends Place {
  readonly state: Extract<PlaceState, { session: EngineSession }>;
}

/** The places of all engines that are not gone. */
interface Places {
  /** For an engine that waits to be started. */
  add(build: EngineBuild): Place;
  /** @throws Error where that state may not follow. */
  move(place: Place, state: PlaceState): void;
  /** Those first that are where they are for longest. */
  manned(...kinds: readonly ("lent" | "idle")[]): readonly Manned[];
  /** All that are not gone. */
  all(): Iterable<Place>;
  /** The builds whose engines take memory already, and are not ready. */
  loading(): readonly EngineBuild[];
  /** Resolves when all are gone. For one that lets nobody in any more. */
  whenEmpty(): Promise<void>;
}

export function createPlaces(): Places {
  /** Each is put at the end when its state changes. */
  const all = new Set<Place & { state: PlaceState }>();
  const emptied = Promise.withResolvers<void>();
  let awaited = false;

  const tellIfEmpty = () => {
    if (awaited && all.size === 0) {
      emptied.resolve();
    }
  };
  return {
    add(build) {
      const place = { build, state: { kind: "waiting" } as const };
      all.add(place);
      return place;
    },
    move(place: Place & { state: PlaceState }, state) {
      assertMayFollow(transitions, place.state.kind, state.kind);
      place.state = state;
      all.delete(place);
      if (state.kind !== "gone") {
        all.add(place);
      }
      tellIfEmpty();
    },
    manned: (...kinds) =>
      [...all].filter(
        (place): place is Manned => "session" in place.state && kinds.includes(place.state.kind),
      ),
    all: () => all,
    loading: () => [...all].filter(({ state }) => state.kind === "loading").map(({ build }) => build),
    whenEmpty() {
      awaited = true;
      tellIfEmpty();
      return emptied.promise;
    },
  };
}

/** What engines take, in bytes: as the system says, and for one that is not started yet as builds like it took. */
interface EngineMemory {
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
