import { EventEmitter } from "node:events";
import { KibitzError } from "../../errors/errors.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import type { RequestHandler } from "../message.ts";
import { answerGet, type Page } from "./page.ts";

interface ProbesOptions {
  /** True if requests for analysis would be answered. Called for every probe. */
  ready(): boolean;
  draining(): boolean;
  /** The parts that do not work although the server is ready. */
  degraded?(): readonly string[];
}

const retryAfterMs = 1000;

/** Probes use no engine, queue or credentials, so that a busy server does not look dead. They are not logged. */
export function createProbes({ ready, draining, degraded = () => [] }: ProbesOptions): RequestHandler {
  const readiness = () => {
    if (draining()) {
      throw new KibitzError("shutting_down", "This server is stopping.", { retryAfterMs });
    }
    if (!ready()) {
      throw new KibitzError("starting", "The engine is being started.", { retryAfterMs });
    }
    return status("ready", degraded());
  };
  return (req, res) => {
    const { path } = contextOf(req);
    if (path !== "/healthz" && path !== "/readyz") {
      return false;
    }
    outcomeOf(req).hasLine = true;
    answerGet(req, res, path === "/healthz" ? status("ok") : readiness());
    return true;
  };
}

function status(word: string, degraded: readonly string[] = []): Page {
  const value = { status: word, ...(degraded.length > 0 && { degraded }) };
  return {
    contentType: "application/json",
    body: `${JSON.stringify(value)}\n`,
    headers: { "Cache-Control": "no-store" },
  };
}

type State = "starting" | "ready" | "draining";

/** The readiness state, for `/readyz` and `grpc.health.v1`. */
export function createReadiness() {
  let state: State = "starting";
  const stopping = new AbortController();
  const changes = new EventEmitter<{ change: [] }>();
  // Every health watcher adds a listener.
  changes.setMaxListeners(0);
  return {
    /** True if a request for analysis that names no engine would be answered. */
    ready: () => state === "ready",
    draining: () => state === "draining",
    /** Emits `change` when `ready` or `draining` changes. */
    changes,
    /** Aborted when the stop begins, to end streams that would stay open. */
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
