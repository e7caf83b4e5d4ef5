import { EventEmitter } from "node:events";

/** Whether calls are answered: the one truth behind `/readyz` and `grpc.health.v1`. */
export interface Readiness {
  /** Whether requests for analysis that name no engine would be answered. */
  ready(): boolean;
  /** Whether the server is stopping. */
  draining(): boolean;
  /** Emits `change` at once when one of these changes. */
  readonly changes: EventEmitter<{ change: [] }>;
  /** Aborted when the server begins to stop: what would else stay open ends. */
  readonly stopping: AbortSignal;
  become(state: "starting" | "ready" | "draining"): void;
}

export function createReadiness(): Readiness {
  let state: "starting" | "ready" | "draining" = "starting";
  const stopping = new AbortController();
  const changes = new EventEmitter<{ change: [] }>();
  // Every caller that watches is one more.
  changes.setMaxListeners(0);
  return {
    ready: () => state === "ready",
    draining: () => state === "draining",
    changes,
    stopping: stopping.signal,
    become(next) {
      if (next === state) {
        return;
      }
      state = next;
      changes.emit("change");
      if (next === "draining") {
        stopping.abort();
      }
    },
  };
}
