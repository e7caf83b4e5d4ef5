import type { Call } from "../../calls/call.ts";
import type { PlainCalls } from "../../calls/plain/plain-calls.ts";
import type { PlayedMoves, Rulebook } from "../../calls/rulebook.ts";

/** The functions that answer tools: calls of the service in plain JSON, and the rules of chess. */
export interface Answerers {
  readonly plain: PlainCalls;
  readonly rulebook: Rulebook;
}

interface CallerOptions extends Answerers {
  /** The part that all calls of the tool have in common. */
  readonly context: Omit<Call, "method">;
  /** Called before each time slice of a long task; throws to end the task. */
  readonly check?: () => void;
  /** Called when a tool has played moves. */
  readonly hasPlayed?: () => void;
}

/**
 * The service for one call of a tool. It answers in the same way as over every other protocol. Requests and answers are plain
 * JSON, as in `/v1`. All methods reject with KibitzErrors.
 */
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
    /**
     * Returns the first `ply` moves of a game in PGN, or all, for a call that is counted later. If the caller's window is used
     * up, nothing is read.
     */
    readGame: (pgn: string, ply: number | undefined) => rulebook.readGame(pgn, ply, goOn, context),
    /** Returns all moves of a game in PGN, as a part of a call that is itself counted or rejected. */
    lookThrough: (pgn: string) => rulebook.readGame(pgn, undefined, goOn),
  };
}
