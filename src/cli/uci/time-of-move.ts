/** The clock of the player to move. */
interface RunningClock {
  /** Milliseconds; negative if the chess program lets clocks run out. */
  readonly leftMs: number;
  /** Milliseconds that each move adds. */
  readonly incrementMs: number;
  /** Moves until the next time control; undefined if there is none. */
  readonly movesToGo: number | undefined;
}

/** The time of a move, in milliseconds after `go`. */
export interface MoveTime {
  /** Time of the search. */
  readonly searchMs: number;
  /** Time until the best move so far is sent if the search has not ended. At least `searchMs`. */
  readonly answerByMs: number;
  /** Time until a move is sent even if none was found. At least `answerByMs`. */
  readonly lastMs: number;
}

/** Extra time for a first move, in milliseconds: any searched move is better than an arbitrary one. */
const firstMoveMs = 300;

/** Time of the search, in milliseconds, if the clock has run out: a searched move may still be accepted. */
const clockOutMs = 50;

/** Less time on the clock, in milliseconds, is lost whatever is played. */
const clockLeastMs = 10;

/** The longest time of a timer in Node, in milliseconds: a longer one would end at once. A clock with more counts as this. */
const clockMostMs = 2 ** 31 - 1;

/** Moves that a game is expected to last. */
const movesExpected = 30;

/** Reserve for the overhead of so many more moves: on a busy machine one move may need all of it. */
const movesSpare = 2;

/** The largest share of the clock for one move, for the last move before a time control, and for a move that was not found yet. */
const clockShare = 0.4;
const lastMoveShare = 0.8;
const firstMoveShare = 0.7;

/**
 * An even share of the clock and the coming increments for each expected move, less the overhead of the coming moves.
 *
 * @param overheadMs longest time between sending a move and the clock being stopped
 */
export function timeOfMove({ incrementMs, movesToGo, ...clock }: RunningClock, overheadMs: number): MoveTime {
  const leftMs = Math.min(clock.leftMs, clockMostMs);
  if (leftMs < clockLeastMs) {
    return { searchMs: clockOutMs, answerByMs: clockOutMs, lastMs: clockOutMs + firstMoveMs };
  }
  // If less than the overhead is left, some time is used nevertheless: without a move the game is lost.
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

/** A move with a fixed time for its search. Like every engine, Kibitz sends the move a little later. */
export function timeOfFixed(searchMs: number, overheadMs: number): MoveTime {
  const answerByMs = searchMs + overheadMs;
  return { searchMs, answerByMs, lastMs: answerByMs + firstMoveMs };
}

/** A move for a player whose clock is not known, within a second. */
export function timeOfUnknownClock(overheadMs: number): MoveTime {
  return timeOfFixed(500, Math.min(overheadMs, 150));
}
