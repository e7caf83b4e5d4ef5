import { EventEmitter } from "node:events";
import { KibitzError } from "../../errors/errors.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import type { RequestHandler } from "../message.ts";
import { answerGet, type Page } from "./page.ts";

export interface ProbesOptions {
  /** Whether requests for analysis would be answered. Asked at every probe: must be cheap. */
  ready(): boolean;
  /** Whether the server is stopping. */
  draining(): boolean;
  /** What a server that is ready does without for now, in words. */
  degraded?(): readonly string[];
}

/** When a load balancer may look again. */
const retryAfterMs = 1000;

/**
 * `/healthz` and `/readyz`. Neither asks an engine, waits in a queue or looks at a credential, so that a busy server is
 * not taken for a dead one. As probes come every second, the log is not for them.
 */
export function createProbes({ ready, draining, degraded = () => [] }: ProbesOptions): RequestHandler {
  const readiness = () => {
    if (draining()) {
      return new KibitzError("shutting_down", "This server is stopping.", { retryAfterMs });
    }
    return ready()
      ? status("ready", degraded())
      : new KibitzError("starting", "The engine is being started.", { retryAfterMs });
  };
  return (req, res) => {
    switch (contextOf(req).path) {
      case "/healthz":
        outcomeOf(req).hasLine = true;
        answerGet(req, res, status("ok"));
        return true;
      case "/readyz":
        outcomeOf(req).hasLine = true;
        answerGet(req, res, readiness());
        return true;
      default:
        return false;
    }
  };
}

function status(word: string, degraded: readonly string[] = []): Page {
  const told = { status: word, ...(degraded.length > 0 && { degraded }) };
  return {
    contentType: "application/json",
    body: `${JSON.stringify(told)}\n`,
    headers: { "Cache-Control": "no-store" },
  };
}

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
