import type { DescMethod } from "@bufbuild/protobuf";
import { type Account, localAccount } from "../../access/account.ts";
import type { CallContext } from "../../calls/invoke.ts";
import type { RequestOutcome } from "../../request/context.ts";
import type { Caller, Plain, PlayedMoves, PlayedPosition } from "./caller.ts";

/** Who is let in for what no engine is asked. */
interface Asker {
  readonly account: Account;
  readonly requestId: string;
  readonly outcome: RequestOutcome;
}

/** What answers the tools: the calls of the service in plain JSON, and the rules of chess. */
export interface Answerers {
  readonly plain: {
    once(method: DescMethod, request: Plain, context: CallContext): Promise<unknown>;
    stream(
      method: DescMethod,
      request: Plain,
      context: CallContext,
      leaveOut?: readonly string[],
    ): AsyncIterable<unknown>;
    check(method: DescMethod, request: Plain, account: Account): Promise<void>;
    judge(method: DescMethod, request: Plain, account: Account): Promise<void>;
  };
  readonly rulebook: {
    play(from: PlayedMoves, check?: () => void, asker?: Asker): Promise<PlayedPosition>;
    readGame(pgn: string, ply: number | undefined, check?: () => void, asker?: Asker): Promise<PlayedMoves>;
  };
}

export interface CallerOptions extends Answerers {
  readonly context: CallContext;
  /** Asked between the pieces of what takes long; throws what is to end it. */
  readonly check?: () => void;
  /** Whose moves are counted as requests; nobody's if unset. */
  readonly asker?: Asker;
}

/** The caller of one call of a tool. */
export function createCaller({ plain, rulebook, context, check, asker }: CallerOptions): Caller {
  const { account = localAccount, signal } = context;
  const goOn = () => {
    signal.throwIfAborted();
    check?.();
  };
  return {
    once: (method, request) => plain.once(method, request, context),
    stream: (method, request, leaveOut) => plain.stream(method, request, context, leaveOut),
    check: (method, request) => plain.check(method, request, account),
    judge: (method, request) => plain.judge(method, request, account),
    play: (from) => rulebook.play(from, goOn, asker),
    look: (from) => rulebook.play(from, goOn),
    readGame: (pgn, ply) => rulebook.readGame(pgn, ply, goOn, asker),
    lookThrough: (pgn) => rulebook.readGame(pgn, undefined, goOn),
  };
}
