import { EventEmitter } from "node:events";

type State = "starting" | "ready" | "draining";

/** Creates the readiness state that `/readyz` and `grpc.health.v1` report. */
export function createReadiness() {
  let state: State = "starting";
  const stopping = new AbortController();
  const changes = new EventEmitter<{ change: [] }>();
  // There is no maximum, because each client that watches the health status adds a listener.
  changes.setMaxListeners(0);
  return {
    /** True if the service can answer a request for analysis that names no engine. */
    ready: () => state === "ready",
    draining: () => state === "draining",
    changes,
    /** Aborted when the server begins to stop, so that endless streams are closed. */
    stopping: stopping.signal,
    become(next: State): void {
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
