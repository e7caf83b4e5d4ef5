interface RunningClock {
  /** Milliseconds on the clock. Negative if the clock has run out but the game continues. */
  readonly leftMs: number;
  readonly incrementMs: number;
  /** The number of moves until the next time control. Undefined if no time control follows. */
  readonly movesToGo: number | undefined;
}

/** All times are in milliseconds after `go`. */
export interface MoveTime {
  readonly searchMs: number;
  /** At this time, the best move so far is sent. Not earlier than `searchMs`. */
  readonly answerByMs: number;
  /** At this time, a legal move is sent even if the search has found no move. Not earlier than `answerByMs`. */
  readonly lastMs: number;
}

/** Additional milliseconds for a first move, because any searched move is better than a random move. */
const firstMoveMs = 300;

/** Milliseconds for a search after the clock has run out. The chess program may still accept the move. */
const clockOutMs = 50;

/** If less than this number of milliseconds remains on the clock, no move can be sent in time. */
const clockLeastMs = 10;

/** The longest timer of Node in milliseconds. A longer timer fires at once. */
const clockMostMs = 2 ** 31 - 1;

const movesExpected = 30;

/** The overhead is reserved for this number of additional moves, because one slow move can use several overheads. */
const movesSpare = 2;

/**
 * The largest fractions of the remaining time for one move: normally, for the last move before the time control, and while the
 * search has found no move.
 */
const clockShare = 0.4;
const lastMoveShare = 0.8;
const firstMoveShare = 0.7;

/** Divides the remaining time and the increments evenly among the expected moves, and subtracts the overhead. */
export function timeOfMove({ incrementMs, movesToGo, ...clock }: RunningClock, overheadMs: number): MoveTime {
  const leftMs = Math.min(clock.leftMs, clockMostMs);
  if (leftMs < clockLeastMs) {
    return { searchMs: clockOutMs, answerByMs: clockOutMs, lastMs: clockOutMs + firstMoveMs };
  }
  // Use some time even if less than the overhead remains: without a move, the game is lost.
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

/** Returns times for a fixed time per move. Like other engines, sends the move slightly after the fixed time. */
export function timeOfFixed(searchMs: number, overheadMs: number): MoveTime {
  const answerByMs = searchMs + overheadMs;
  return { searchMs, answerByMs, lastMs: answerByMs + firstMoveMs };
}

export function timeOfUnknownClock(overheadMs: number): MoveTime {
  return timeOfFixed(500, Math.min(overheadMs, 150));
}
