import type { EngineFailure } from "../engine/engine.ts";
import { KibitzError } from "../errors/errors.ts";

/** What callers are told of an engine's failure; what the engine said stays in the log. */
export function errorFromFailure(failure: EngineFailure): KibitzError {
  switch (failure.kind) {
    case "overran":
    case "out_of_time":
    case "deaf":
    case "suspended":
      return new KibitzError(
        "engine_timeout",
        "The engine did not end its search in time and was replaced.",
        {
          cause: failure,
        },
      );
    case "quarantined":
      return new KibitzError(
        "engine_timeout",
        "This position has just made an engine fail twice, and is refused for a while.",
        { cause: failure },
      );
    case "replaced":
    case "backing_off":
    case "no_start":
    case "killed":
      return new KibitzError("starting", "The engine could not be started.", {
        cause: failure,
        retryAfterMs: Math.max(1000, failure.retryAfterMs ?? 0),
      });
    case "exited":
    case "flooded":
    case "confused":
      return new KibitzError("internal", "The engine failed on this position.", { cause: failure });
  }
}
