import type { Account } from "../access/account.ts";
import { isInCheck, type MoveName, nameLegalMoves } from "../chess/moves.ts";
import { readPastedFen } from "../chess/pasted-fen.ts";
import type { PlayedGame } from "../chess/play-game.ts";
import type { Position } from "../chess/position.ts";
import { isPlainMove } from "../chess/written-move.ts";
import { costOfBytes, costOfMoves, errorFromViolations, KibitzError, withCost } from "../errors/errors.ts";
import { playMoves, playPgn } from "../game/game.ts";
import { readSentGame } from "../game/read-sent-game.ts";
import { type BeginWork, inTurns } from "../thread/time-slices.ts";
import type { Call } from "./call.ts";

export interface PlayedMoves {
  /** A FEN, or `startpos`. */
  readonly fen: string;
  readonly moves: readonly string[];
  /** If undefined, the castling rights and the castling moves decide. */
  readonly chess960?: boolean | undefined;
}

export interface MovesOfPgn extends PlayedMoves {
  readonly warnings: readonly string[];
}

export interface PlayedPosition
  extends Pick<Position, "fen" | "turn" | "chess960" | "terminal" | "drawClaim"> {
  readonly played: readonly MoveName[];
  readonly legal: readonly MoveName[];
  readonly check: boolean;
  readonly warnings: readonly string[];
}

type Counted = Pick<Call, "account" | "outcome">;

interface RulebookOptions {
  /** Starts a task that pauses regularly. Without pauses, a long game would block the event loop for tens of milliseconds. */
  readonly beginWork: BeginWork;
  /** `withoutSearch` counts a request. `refuseUsedUp` throws if the caller has used up a rate, and counts nothing. */
  readonly charge: {
    withoutSearch(counted: Counted): Promise<void>;
    refuseUsedUp(account: Account): Promise<void>;
  };
}

export type Rulebook = ReturnType<typeof createRulebook>;

/** The rules of chess for MCP, which has tools without an RPC method. Protocols may not import the rules themselves. */
export function createRulebook({ beginWork, charge }: RulebookOptions) {
  return {
    isPlainMove,
    readPastedFen,
    /** Throws a KibitzError about `fen`, `moves` or the caller's limits. If `counted` is set, the limits count one request. */
    async play(
      { fen, moves, chess960 }: PlayedMoves,
      check?: () => void,
      counted?: Counted,
    ): Promise<PlayedPosition> {
      await (counted && charge.refuseUsedUp(counted.account));
      const turn = beginWork(check);
      try {
        const game = await inTurns(playMoves({ fen, moves, chess960 }), turn);
        const legal = nameLegalMoves(game.last);
        await (counted && charge.withoutSearch(counted));
        return playedPosition(game, legal);
      } catch (thrown) {
        throw thrown instanceof KibitzError ? withCost(thrown, costOfMoves(moves.length)) : thrown;
      }
    },
    /** Returns the first `ply` moves, or all moves. Throws a KibitzError about `pgn`, `ply` or the caller's limits. */
    async readGame(
      pgn: string,
      ply: number | undefined,
      check?: () => void,
      counted?: Counted,
    ): Promise<MovesOfPgn> {
      await (counted && charge.refuseUsedUp(counted.account));
      const turn = beginWork(check);
      try {
        const read = await inTurns(readSentGame(pgn), turn);
        const game = await inTurns(playPgn(read), turn);
        const warnings = game.warnings.map(({ message }) => message);
        return { ...movesUpTo(game, ply ?? game.moves.length), warnings };
      } catch (thrown) {
        throw thrown instanceof KibitzError ? withCost(thrown, costOfBytes(pgn.length)) : thrown;
      }
    },
  };
}

function playedPosition({ start, moves, last }: PlayedGame, legal: readonly MoveName[]): PlayedPosition {
  const { fen, turn, chess960, terminal, drawClaim } = last;
  const warnings = [...start.warnings, ...last.warnings];
  return {
    fen,
    turn,
    chess960,
    terminal,
    drawClaim,
    played: moves.map(({ san, uci }) => ({ san, uci })),
    legal,
    check: isInCheck(last),
    warnings: [
      ...new Set(
        warnings
          // "No history" is wrong if the request has moves.
          .filter(({ code }) => code !== "no_history" || moves.length === 0)
          .map(({ message }) => message),
      ),
    ],
  };
}

function movesUpTo({ start, moves }: PlayedGame, ply: number): PlayedMoves {
  if (ply > moves.length) {
    throw errorFromViolations([
      {
        pointer: "/ply",
        code: "out_of_range",
        message: `The game has ${moves.length} plies: \`ply\` must be from 0 to ${moves.length}, not ${ply}.`,
        allowed: { minimum: 0, maximum: moves.length },
      },
    ]);
  }
  return { fen: start.fen, moves: moves.slice(0, ply).map(({ uci }) => uci) };
}
