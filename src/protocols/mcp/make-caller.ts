import type { DescMethod } from "@bufbuild/protobuf";
import type { Account } from "../../access/account.ts";
import type { Call } from "../../calls/call.ts";
import type { Caller, Plain, PlayedMoves, PlayedPosition } from "./caller.ts";

/** The caller whose question to the rules of chess counts as a request. */
type Asker = Pick<Call, "account" | "outcome">;

/** What answers the tools: the calls of the service in plain JSON, and the rules of chess. */
export interface Answerers {
  readonly plain: {
    once(request: Plain, call: Call): Promise<unknown>;
    stream(request: Plain, call: Call, leaveOut?: readonly string[]): AsyncIterable<unknown>;
    check(method: DescMethod, request: Plain, account: Account): Promise<void>;
    judge(method: DescMethod, request: Plain, account: Account): Promise<void>;
  };
  readonly rulebook: {
    play(from: PlayedMoves, check?: () => void, asker?: Asker): Promise<PlayedPosition>;
    readGame(pgn: string, ply: number | undefined, check?: () => void, asker?: Asker): Promise<PlayedMoves>;
  };
}

export interface CallerOptions extends Answerers {
  /** Of each call that the tool makes, but for its method. */
  readonly context: Omit<Call, "method">;
  /** Asked between the pieces of what takes long; throws what is to end it. */
  readonly check?: () => void;
  /** Whose moves are counted as requests; nobody's if unset. */
  readonly asker?: Asker;
}

/** The caller of one call of a tool. */
export function createCaller({ plain, rulebook, context, check, asker }: CallerOptions): Caller {
  const { account, signal } = context;
  const goOn = () => {
    signal.throwIfAborted();
    check?.();
  };
  return {
    once: (method, request) => plain.once(request, { ...context, method }),
    stream: (method, request, leaveOut) => plain.stream(request, { ...context, method }, leaveOut),
    check: (method, request) => plain.check(method, request, account),
    judge: (method, request) => plain.judge(method, request, account),
    play: (from) => rulebook.play(from, goOn, asker),
    look: (from) => rulebook.play(from, goOn),
    readGame: (pgn, ply) => rulebook.readGame(pgn, ply, goOn, asker),
    lookThrough: (pgn) => rulebook.readGame(pgn, undefined, goOn),
  };
}
