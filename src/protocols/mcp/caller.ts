import type { Call } from "../../calls/call.ts";
import type { PlainCalls } from "../../calls/plain/plain-calls.ts";
import type { PlayedMoves, Rulebook } from "../../calls/rulebook.ts";

export interface Answerers {
  readonly plain: PlainCalls;
  readonly rulebook: Rulebook;
}

interface CallerOptions extends Answerers {
  /** The part that all calls of the tool have in common. */
  readonly context: Omit<Call, "method">;
  /** Called before each time slice of a long task; throws to end the task. */
  readonly check?: () => void;
  readonly hasPlayed?: () => void;
}

/** The service for one call of a tool, in plain JSON as in `/v1`. All methods reject with KibitzErrors. */
export type Caller = ReturnType<typeof createCaller>;

export function createCaller({ plain, rulebook, context, check, hasPlayed }: CallerOptions) {
  const goOn = () => {
    context.signal.throwIfAborted();
    check?.();
  };
  return {
    ...plain(context),
    /** Plays moves by the rules of chess. This counts as a request. */
    async play(from: PlayedMoves) {
      const position = await rulebook.play(from, goOn, context);
      hasPlayed?.();
      return position;
    },
    /** Plays moves like {@link play}, as a part of a call that is itself counted or rejected. */
    look: (from: PlayedMoves) => rulebook.play(from, goOn),
    /** Returns the first `ply` moves of a game, or all, for a call counted later. Rejects if the caller's window is used up. */
    readGame: (pgn: string, ply: number | undefined) => rulebook.readGame(pgn, ply, goOn, context),
    /** Returns all moves of a game in PGN, as a part of a call that is itself counted or rejected. */
    lookThrough: (pgn: string) => rulebook.readGame(pgn, undefined, goOn),
  };
}
