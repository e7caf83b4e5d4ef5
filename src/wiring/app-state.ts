import type { Access } from "../access/access.ts";
import { KibitzError, type Transitions } from "../errors/errors.ts";
import type { RequestHandler } from "../http/message.ts";

/**
 * How far a server is. Pages and probes are answered in every state but the last, calls while it is serving:
 *
 *     opening ──keys are there──▶ starting ──engines are there──▶ serving ──stop──▶ draining ──▶ stopped
 *        │                           │                                                           ▲
 *        └─────────failure───────────┴──────────────────────failure──────────────────────────────┘
 */
export type AppState =
  | { readonly kind: "opening" | "stopped" }
  | (Opened & { readonly kind: "starting" })
  | (Opened & { readonly kind: "serving"; readonly doors: readonly RequestHandler[] })
  | (Opened & { readonly kind: "draining"; readonly ended: Promise<void> });

/** What there is before the engines are. */
export interface Opened {
  readonly access: Access;
  /** Answers calls of health and reflection, which need no engines. */
  readonly tools: RequestHandler;
}

export const appTransitions: Transitions<AppState["kind"]> = {
  opening: ["starting", "stopped"],
  starting: ["serving", "stopped"],
  serving: ["draining"],
  draining: ["stopped"],
  stopped: [],
};

/** Why no call is answered. */
export function notServing(state: Exclude<AppState["kind"], "serving">): KibitzError {
  return state === "opening" || state === "starting"
    ? new KibitzError("starting", "The engine is being started.", { retryAfterMs: 1000 })
    : new KibitzError("shutting_down", "This server is stopping and accepts no new work.", {
        retryAfterMs: 5000,
      });
}
