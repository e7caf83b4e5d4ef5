import { assertMayFollow, type Transitions } from "../errors/transitions.ts";
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
export interface Places {
  /** For an engine that waits to be started. */
  add(build: EngineBuild): Place;
  /** @throws Error where that state may not follow. */
  move(place: Place, state: PlaceState): void;
  /** Those first that are where they are for longest. */
  manned(...kinds: readonly ("lent" | "idle")[]): readonly Manned[];
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
    loading: () => [...all].filter(({ state }) => state.kind === "loading").map(({ build }) => build),
    whenEmpty() {
      awaited = true;
      tellIfEmpty();
      return emptied.promise;
    },
  };
}
