/** A player's clock, with the player to move. */
interface RunningClock {
  /** Milliseconds; negative where a program lets a clock run out. */
  readonly leftMs: number;
  /** Milliseconds that the move will bring. */
  readonly incrementMs: number;
  /** Moves until the clock is set anew; undefined where it never is. */
  readonly movesToGo: number | undefined;
}

/** What a move may take, in milliseconds from `go` on. */
export interface MoveTime {
  /** How long is searched. */
  readonly searchMs: number;
  /** When the best move so far is said, if the search has not ended by itself. Never before `searchMs`. */
  readonly answerByMs: number;
  /** When a move must be said even if none was found: until then the first one is waited for. Never before `answerByMs`. */
  readonly lastMs: number;
}

/** How long is waited for a first move, in milliseconds: any move is worth more than none that was found. */
const firstMoveMs = 300;

/** Moves that a game is taken to go on for. */
const movesExpected = 30;

/** Moves for whose overhead there is to be time beyond that: a busy machine may need as much for one. */
const movesSpare = 2;

/**
 * What of the clock one move may use at most; the last one before it is set anew may use more, and so may one for which
 * nothing was found yet.
 */
const clockShare = 0.4;
const lastMoveShare = 0.8;
const firstMoveShare = 0.7;

/**
 * An even share, for each move that is expected, of the clock and all that will come to it; what the moves to come take
 * beside their searches is put aside.
 *
 * @param overheadMs what passes between saying a move and the clock being stopped, at most
 */
export function timeOfMove({ leftMs, incrementMs, movesToGo }: RunningClock, overheadMs: number): MoveTime {
  // Where less than the overhead is left, there is nothing to lose by trying.
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

/** A move that may take a fixed time: told a little later, as by every engine. */
export function timeOfFixed(movetimeMs: number, overheadMs: number): MoveTime {
  const searchMs = Math.max(1, movetimeMs);
  const answerByMs = searchMs + overheadMs;
  return { searchMs, answerByMs, lastMs: answerByMs + firstMoveMs };
}
