import { isInCheck, type MoveName, nameLegalMoves } from "../chess/legal-moves.ts";
import type { ReplayedGame } from "../chess/play-game.ts";
import type { Position } from "../chess/position.ts";
import { costOfBytes, errorFromFaults, KibitzError, withCost } from "../errors/errors.ts";
import { replayMoves, replayPgn } from "../game/game.ts";
import { readPgn } from "../game/read-pgn.ts";
import { type BeginWork, inTurns } from "../thread/event-loop.ts";
import { type Admissible, type AdmissionControl, costOfMoves } from "./admission.ts";

/** Where a game has come to: its start, and the moves played from there. */
export interface PlayedMoves {
  /** FEN, or `startpos`. */
  readonly fen: string;
  /** UCI or SAN. */
  readonly moves: readonly string[];
}

/** A position as the rules of chess see it. No engine is asked. */
export interface PlayedPosition
  extends Pick<Position, "fen" | "turn" | "chess960" | "terminal" | "drawClaim"> {
  /** The moves that led to it. */
  readonly played: readonly MoveName[];
  /** In the alphabetical order of SAN. */
  readonly legal: readonly MoveName[];
  readonly check: boolean;
  /** What was mended of the FEN, and what to know of the position. */
  readonly warnings: readonly string[];
}

/** Answers what the rules of chess alone can say. */
export interface Rulebook {
  /**
   * Plays moves.
   *
   * @param asker who is let in for it, which counts as a request; without, it belongs to a call that is counted. If their
   * window is used up, nothing is played
   * @param check as in `BeginWork`
   * @throws KibitzError `invalid_fen`, `illegal_position`, `illegal_move` for the fields `fen` and `moves`; what the
   * asker's limits say
   */
  play(from: PlayedMoves, check?: () => void, asker?: Admissible): Promise<PlayedPosition>;
  /**
   * The moves of one game in PGN.
   *
   * @param ply how many of them, from 0; all if undefined
   * @param asker as in {@link play}, but the game is a part of a call that is counted later
   * @throws KibitzError for the fields `pgn` and `ply`; what the asker's limits say
   */
  readGame(
    pgn: string,
    ply: number | undefined,
    check?: () => void,
    asker?: Admissible,
  ): Promise<PlayedMoves>;
}

export interface RulebookOptions {
  /** Slices of the thread: a long game takes tens of milliseconds. */
  readonly beginWork: BeginWork;
  readonly gate: Pick<AdmissionControl, "admitRules" | "refuseUsedUp">;
}

export function createRulebook({ beginWork, gate }: RulebookOptions): Rulebook {
  return {
    async play({ fen, moves }, check, asker) {
      await (asker && gate.refuseUsedUp(asker.account));
      const turn = beginWork(check);
      try {
        const game = await inTurns(replayMoves({ fen, moves, chess960: false }), turn);
        const legal = await inTurns(nameLegalMoves(game.last), turn);
        if (asker) {
          await gate.admitRules(asker);
        }
        return playedPosition(game, legal);
      } catch (thrown) {
        throw thrown instanceof KibitzError ? withCost(thrown, costOfMoves(moves.length)) : thrown;
      }
    },
    async readGame(pgn, ply, check, asker) {
      await (asker && gate.refuseUsedUp(asker.account));
      const turn = beginWork(check);
      try {
        const read = await inTurns(readPgn({ text: pgn }), turn);
        const game = await inTurns(replayPgn(read), turn);
        return movesUpTo(game, ply ?? game.moves.length);
      } catch (thrown) {
        throw thrown instanceof KibitzError ? withCost(thrown, costOfBytes(pgn.length)) : thrown;
      }
    },
  };
}

function playedPosition({ start, moves, last }: ReplayedGame, legal: readonly MoveName[]): PlayedPosition {
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
          // Of the start: where moves were played, it is a part of the history.
          .filter(({ code }) => code !== "no_history" || moves.length === 0)
          .map(({ message }) => message),
      ),
    ],
  };
}

function movesUpTo({ start, moves }: ReplayedGame, ply: number): PlayedMoves {
  if (ply > moves.length) {
    throw errorFromFaults([
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
