import { setTimeout } from "node:timers/promises";
import { assertMayFollow, type Transitions } from "../errors/errors.ts";
import { beforeAbort, type EngineBuild, EngineFailure, type EngineSession } from "./engine.ts";

/**
 * How far it is with a build of which engines are started until there is one:
 *
 *     trying ──failed──▶ pausing ──it is time──▶ trying
 *       ⟲ │                 ▲ failed
 *         └──a caller──▶ promised
 *
 * An engine that came, but is gone before it was seen, is tried again without a pause.
 */
type RevivalState =
  | { readonly kind: "trying"; readonly started: Promise<EngineSession> }
  /** The engine that comes is a caller's: it is not given back, and nobody else gets it. */
  | { readonly kind: "promised" }
  | { readonly kind: "pausing" };

const transitions: Transitions<RevivalState["kind"]> = {
  trying: ["promised", "pausing", "trying"],
  promised: ["pausing", "trying"],
  pausing: ["trying"],
};

/**
 * Starts engines that no caller asked for: callers go elsewhere when they see what is unavailable, and nobody would
 * find out that it is there again.
 */
interface Revivals {
  /** Starts engines of a build until it needs none. */
  revive(build: EngineBuild): Promise<void>;
  /** The engine of the build that is being started, for this caller, if there is one that is promised to nobody. */
  claim(build: EngineBuild, signal: AbortSignal): Promise<EngineSession> | undefined;
}

interface RevivalOptions {
  /** Whether there is to be an engine of the build that is not there. */
  readonly needs: (build: EngineBuild) => boolean;
  readonly start: (build: EngineBuild) => Promise<EngineSession>;
  /** Takes an engine that no caller has claimed. */
  readonly giveBack: (session: EngineSession) => void;
  /** Ends it all. */
  readonly closed: AbortSignal;
}

export function createRevivals({ needs, start, giveBack, closed }: RevivalOptions): Revivals {
  const states = new Map<EngineBuild, RevivalState>();

  function move(build: EngineBuild, next: RevivalState): void {
    const before = states.get(build);
    if (before) {
      assertMayFollow(transitions, before.kind, next.kind);
    }
    states.set(build, next);
  }

  return {
    async revive(build) {
      if (states.has(build)) {
        return;
      }
      while (needs(build) && !closed.aborted) {
        const started = start(build);
        move(build, { kind: "trying", started });
        try {
          const session = await started;
          if (states.get(build)?.kind === "trying") {
            giveBack(session);
          }
        } catch (error) {
          move(build, { kind: "pausing" });
          const retryAfterMs = error instanceof EngineFailure ? error.retryAfterMs : undefined;
          await setTimeout(retryAfterMs ?? 0, undefined, { signal: closed }).catch(() => {});
        }
      }
      states.delete(build);
    },
    claim(build, signal) {
      const state = states.get(build);
      if (state?.kind !== "trying") {
        return undefined;
      }
      move(build, { kind: "promised" });
      return shareStart(state.started, signal, giveBack);
    },
  };
}

/**
 * An engine that is being started anyway, for one caller. If that one leaves before it is there, it is for others.
 * @throws EngineFailure of the start, or the reason of `signal`.
 */
async function shareStart(
  started: Promise<EngineSession>,
  signal: AbortSignal,
  giveBack: (session: EngineSession) => void,
): Promise<EngineSession> {
  try {
    return await beforeAbort(started, signal);
  } catch (error) {
    started.then(giveBack, () => {});
    throw error;
  }
}
