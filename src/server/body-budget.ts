import { KibitzError } from "../errors/errors.ts";
import type { NodeRequest } from "./node-message.ts";

/** The memory of all bodies that are being read together. */
export interface BodyBudget {
  /**
   * Counts what is read of the body of a request until that is closed.
   * @throws KibitzError `overloaded`, when it is told of bytes for which there is no room
   */
  countOf(req: NodeRequest): (bytes: number) => void;
}

export interface BodyBudgetOptions {
  readonly maxBytes?: number;
  /** What every body may take beside the budget: all that most calls read, so that large ones cannot crowd them out. */
  readonly freeBytes?: number;
}

/** Large bodies (batches) that are sent slowly, or not to their end, on many connections take no more than this. */
export function createBodyBudget({
  maxBytes = 64 * 1024 * 1024,
  freeBytes = 64 * 1024,
}: BodyBudgetOptions = {}): BodyBudget {
  let used = 0;
  return {
    countOf(req) {
      let read = 0;
      let held = 0;
      return (bytes) => {
        read += bytes;
        const more = read - freeBytes - held;
        if (more <= 0) {
          return;
        }
        if (used + more > maxBytes) {
          const detail =
            "Too many large requests are being received. Send this one later, or split it into smaller ones.";
          throw new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
        }
        if (held === 0) {
          req.once("close", () => {
            used -= held;
          });
        }
        used += more;
        held += more;
      };
    },
  };
}
