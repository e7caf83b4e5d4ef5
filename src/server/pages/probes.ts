import { endingOf } from "../../caller.ts";
import { KibitzError } from "../../errors/errors.ts";
import { pathOf, type RequestHandler } from "../node-message.ts";
import { answerGet, type Page } from "./answer-get.ts";

export interface ProbesOptions {
  /** Whether requests for analysis would be answered. Asked at every probe: must be cheap. */
  ready(): boolean;
  /** Whether the server is stopping. */
  draining(): boolean;
}

/** When a load balancer may look again. */
const retryAfterMs = 1000;

/**
 * `/healthz` and `/readyz`. Neither asks an engine, waits in a queue or looks at a credential, so that a busy server is
 * not taken for a dead one. As probes come every second, the log is not for them.
 */
export function createProbes({ ready, draining }: ProbesOptions): RequestHandler {
  const readiness = () => {
    if (draining()) {
      return new KibitzError("shutting_down", "This server is stopping.", { retryAfterMs });
    }
    return ready()
      ? status("ready")
      : new KibitzError("starting", "The engine is being started.", { retryAfterMs });
  };
  return (req, res) => {
    switch (pathOf(req)) {
      case "/healthz":
        endingOf(req).hasLine = true;
        answerGet(req, res, status("ok"));
        return true;
      case "/readyz":
        endingOf(req).hasLine = true;
        answerGet(req, res, readiness());
        return true;
      default:
        return false;
    }
  };
}

function status(word: string): Page {
  return {
    contentType: "application/json",
    body: `${JSON.stringify({ status: word })}\n`,
    headers: { "Cache-Control": "no-store" },
  };
}
