import type { Call } from "../../calls/call.ts";
import type { PlayedMoves, Rulebook } from "../../calls/rulebook.ts";
import type { PlainCalls } from "./plain-calls.ts";

export interface Answerers {
  readonly plain: PlainCalls;
  readonly rulebook: Rulebook;
}

interface CallerOptions extends Answerers {
  readonly context: Omit<Call, "method">;
  /** Called before each step of a long task. Throws an error to end the task. */
  readonly check?: () => void;
  readonly hasPlayed?: () => void;
}

/** The methods of the service that a tool can call, in plain JSON as in `/v1`. All calls reject with a KibitzError, or
 * with the abort reason of the signal. */
export type Caller = ReturnType<typeof createCaller>;

export function createCaller({ plain, rulebook, context, check, hasPlayed }: CallerOptions) {
  const goOn = () => {
    context.signal.throwIfAborted();
    check?.();
  };
  const { isPlainMove, readPastedFen } = rulebook;
  return {
    ...plain(context),
    isPlainMove,
    readPastedFen,
    /** Plays moves by the rules of chess. A call of this method is counted as a request. */
    async play(from: PlayedMoves) {
      const position = await rulebook.play(from, goOn, context);
      hasPlayed?.();
      return position;
    },
    /** Plays moves without counting a request, for a tool that also sends a counted request. */
    playUncounted: (from: PlayedMoves) => rulebook.play(from, goOn),
    /** Reads a game without counting a request. Rejects if the caller has used up a rate limit. */
    readGame: (pgn: string, ply: number | undefined) => rulebook.readGame(pgn, ply, goOn, context),
    /** Returns all moves of a game in PGN without counting a request. */
    readGameUncounted: (pgn: string) => rulebook.readGame(pgn, undefined, goOn),
  };
}
