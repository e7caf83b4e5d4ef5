import type { Probe } from "./probe.ts";
import type { Category } from "./results.ts";

interface ClockedProbe extends Probe {
  /** The number of plies since the last capture or pawn move. */
  readonly clock: number;
  /** True if a checkmate, or a capture or pawn move that wins, is on the board, or if each move is one that loses. */
  readonly isDecidedNow: boolean;
}

/** The number of plies after which the fifty-move rule makes a draw. */
export const clockMax = 100;

/**
 * Returns the result under the fifty-move rule. If the distance reaches the end of the clock exactly, the result is spoilt,
 * because the distance may be too small by 1. With the clock at 0, the table itself has heeded the rule.
 */
export function categoryOf({ result, distance, clock, isDecidedNow }: ClockedProbe): Category {
  if (result === 0) {
    return "draw";
  }
  const reached = Math.abs(distance) + clock;
  const isSafe = clock === 0 || reached < clockMax || (reached === clockMax && isDecidedNow);
  if (Math.abs(result) === 2 && isSafe) {
    return result > 0 ? "win" : "loss";
  }
  return result > 0 ? "cursed_win" : "blessed_loss";
}
