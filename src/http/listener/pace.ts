import { now } from "../../time/time.ts";

/** The longest time that a connection waits for its turn. */
const waitMaxMs = 1000;

/**
 * Spreads the new connections of each holder, such as an address, over time. Returns the milliseconds that a connection waits
 * before the server reads from it, or undefined if the connection would wait longer than a second.
 */
export function createPace(perSecond: number, atOnce: number, clock = now) {
  const everyMs = 1000 / perSecond;
  const aheadMs = everyMs * atOnce;
  /** For each holder, the time of the turn after its last connection. */
  const turns = new Map<string, number>();

  return (holder: string): number | undefined => {
    const at = clock();
    for (const [earliest, turn] of turns) {
      if (turn > at) {
        break;
      }
      turns.delete(earliest);
    }
    const turn = Math.max(turns.get(holder) ?? 0, at) + everyMs;
    const waitMs = Math.max(0, turn - at - aheadMs);
    if (waitMs > waitMaxMs) {
      return undefined;
    }
    // Keeps the map in the order of the last connections, so that the loop above finds holders to forget.
    turns.delete(holder);
    turns.set(holder, turn);
    return waitMs;
  };
}
