interface RunningClock {
  /** The time that is left in milliseconds; negative if the chess program lets clocks run out. */
  readonly leftMs: number;
  readonly incrementMs: number;
  /** The number of moves until the next time control; undefined if there is none. */
  readonly movesToGo: number | undefined;
}

/** The times of a move, in milliseconds after `go`. */
export interface MoveTime {
  readonly searchMs: number;
  /** The time until the best move so far is sent, if the search has not ended. At least `searchMs`. */
  readonly answerByMs: number;
  /** The time until a move is sent even if none was found. At least `answerByMs`. */
  readonly lastMs: number;
}

/** The extra time for a first move, in milliseconds, because any searched move is better than an arbitrary one. */
const firstMoveMs = 300;

/** The time of the search if the clock has run out, in milliseconds. A searched move may still be accepted. */
const clockOutMs = 50;

/** The least time on the clock with which a move can still be in time, in milliseconds. */
const clockLeastMs = 10;

/** The longest timer in Node. A longer one would end at once, so a clock with more time counts as this. */
const clockMostMs = 2 ** 31 - 1;

/** The number of moves that a game is expected to last from here. */
const movesExpected = 30;

/** The number of additional moves whose overhead is reserved, because on a busy machine one move may need all of it. */
const movesSpare = 2;

/** The largest share of the clock for a move, for the last move before a time control, and if no move was found yet. */
const clockShare = 0.4;
const lastMoveShare = 0.8;
const firstMoveShare = 0.7;

/**
 * An even share of the clock and of the coming increments for each expected move, less the overhead of the coming moves.
 * @param overheadMs the longest time between sending a move and the clock being stopped
 */
export function timeOfMove({ incrementMs, movesToGo, ...clock }: RunningClock, overheadMs: number): MoveTime {
  const leftMs = Math.min(clock.leftMs, clockMostMs);
  if (leftMs < clockLeastMs) {
    return { searchMs: clockOutMs, answerByMs: clockOutMs, lastMs: clockOutMs + firstMoveMs };
  }
  // If less than the overhead is left, use some time nevertheless: without a move, the game is lost.
  const usableMs = Math.max(1, leftMs - overheadMs, leftMs * clockShare);
  const moves = Math.min(Math.max(movesToGo ?? movesExpected, 1), movesExpected);
  const comingMs = Math.max(0, incrementMs) * (moves - 1);
  const shareMs = (leftMs + comingMs - overheadMs * (moves + movesSpare)) / moves;
  const mostMs = usableMs * (moves === 1 ? lastMoveShare : clockShare);
  const searchMs = Math.max(1, Math.floor(Math.min(shareMs, mostMs)));
  const answerByMs = Math.max(searchMs, Math.min(searchMs + overheadMs, usableMs));
  const patientMs = Math.max(answerByMs + firstMoveMs, usableMs * clockShare);
  const mostPatientMs = Math.max(usableMs, leftMs * firstMoveShare);
  return { searchMs, answerByMs, lastMs: Math.min(patientMs, mostPatientMs) };
}

/** Like every engine, Kibitz sends the move a little after a fixed time. */
export function timeOfFixed(searchMs: number, overheadMs: number): MoveTime {
  const answerByMs = searchMs + overheadMs;
  return { searchMs, answerByMs, lastMs: answerByMs + firstMoveMs };
}

export function timeOfUnknownClock(overheadMs: number): MoveTime {
  return timeOfFixed(500, Math.min(overheadMs, 150));
}
