import type { Call } from "../../calls/call.ts";
import type { PlainCalls } from "../../calls/plain/plain-calls.ts";
import type { PlayedMoves, Rulebook } from "../../calls/rulebook.ts";

/** Answers the tools: the calls of the service in plain JSON, and the rules of chess. */
export interface Answerers {
  readonly plain: PlainCalls;
  readonly rulebook: Rulebook;
}

interface CallerOptions extends Answerers {
  /** Part of each call that the tool makes. */
  readonly context: Omit<Call, "method">;
  /** Is called before each time slice of long work; throws to end the work. */
  readonly check?: () => void;
  /** Is called when a tool has played moves. */
  readonly hasPlayed?: () => void;
}

/**
 * The service for one call of a tool, as the service answers its caller over every other protocol. Requests and answers are plain JSON,
 * as in `/v1`. Everything rejects with KibitzErrors.
 */
export type Caller = ReturnType<typeof createCaller>;

export function createCaller({ plain, rulebook, context, check, hasPlayed }: CallerOptions) {
  const goOn = () => {
    context.signal.throwIfAborted();
    check?.();
  };
  return {
    ...plain(context),
    /** Plays moves by the rules of chess, which counts as a request. */
    async play(from: PlayedMoves) {
      const position = await rulebook.play(from, goOn, context);
      hasPlayed?.();
      return position;
    },
    /** {@link play}, as a part of a call that is counted or refused. */
    look: (from: PlayedMoves) => rulebook.play(from, goOn),
    /**
     * The first `ply` moves of a game in PGN, or all, for a call that is counted later. If the caller's window is used up, nothing is
     * read.
     */
    readGame: (pgn: string, ply: number | undefined) => rulebook.readGame(pgn, ply, goOn, context),
    /** All moves of a game in PGN, as a part of a call that is counted or refused. */
    lookThrough: (pgn: string) => rulebook.readGame(pgn, undefined, goOn),
  };
}
