import { KibitzError } from "../../errors/errors.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import type { RequestHandler } from "../message.ts";
import { answerGet, type Page } from "./page.ts";

interface ProbesOptions {
  ready(): boolean;
  draining(): boolean;
  degraded?(): readonly string[];
}

const retryAfterMs = 1000;

/** Probes use no engine, queue or credentials, so that a busy server does not seem to be dead. Probes are not logged. */
export function createProbes({ ready, draining, degraded = () => [] }: ProbesOptions): RequestHandler {
  const alive = status("ok");
  const usable = status("ready");
  const readiness = () => {
    if (draining()) {
      throw new KibitzError("shutting_down", "This server is stopping.", { retryAfterMs });
    }
    if (!ready()) {
      throw new KibitzError("starting", "The engine is being started.", { retryAfterMs });
    }
    const lost = degraded();
    return lost.length === 0 ? usable : status("ready", lost);
  };
  return (req, res) => {
    const { path } = contextOf(req);
    if (path !== "/healthz" && path !== "/readyz") {
      return false;
    }
    outcomeOf(req).hasLine = true;
    answerGet(req, res, path === "/healthz" ? alive : readiness());
    return true;
  };
}

function status(word: string, degraded: readonly string[] = []): Page {
  const value = { status: word, ...(degraded.length > 0 && { degraded }) };
  return {
    contentType: "application/json",
    body: Buffer.from(`${JSON.stringify(value)}\n`),
    headers: { "Cache-Control": "no-store" },
  };
}
