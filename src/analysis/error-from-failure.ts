import type { EngineFailure } from "../engine/engine.ts";
import { KibitzError } from "../errors/errors.ts";

/** The error does not contain the message of the engine. That message appears only in the log. */
export function errorFromFailure(failure: EngineFailure): KibitzError {
  switch (failure.kind) {
    case "overtime":
      return new KibitzError("engine_timeout", "The engine did not end its search in time.", {
        cause: failure,
      });
    case "quarantined":
      return new KibitzError(
        "engine_timeout",
        "This position has just made an engine fail twice, and is refused for a while.",
        { cause: failure },
      );
    case "no_start":
      return new KibitzError("starting", "The engine could not be started.", {
        cause: failure,
        retryAfterMs: Math.max(1000, failure.retryAfterMs ?? 0),
      });
    case "exited":
    case "killed":
    case "flooded":
    case "unresponsive":
      return new KibitzError("overloaded", "Two engines in a row failed during this search.", {
        cause: failure,
        retryAfterMs: 1000,
      });
    case "protocol_error":
      return new KibitzError("internal", "The engine failed on this position.", { cause: failure });
  }
}
