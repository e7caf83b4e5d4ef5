import type { PlayedMoves, PlayedPosition, Rulebook } from "../calls/rulebook.ts";
import { isInCheck, type MoveName, nameLegalMoves } from "../chess/legal-moves.ts";
import type { ReplayedGame } from "../chess/play-game.ts";
import { costOfBytes, errorFromFaults, KibitzError, withCost } from "../errors/errors.ts";
import { replayMoves, replayPgn } from "../game/game.ts";
import { readPgn } from "../game/read-pgn.ts";
import { type BeginWork, inTurns } from "../thread/event-loop.ts";
import { type AdmissionControl, costOfMoves } from "./admission.ts";

interface RulebookOptions {
  /** Time slices: a long game takes tens of milliseconds. */
  readonly beginWork: BeginWork;
  readonly gate: Pick<AdmissionControl, "admitRules" | "refuseUsedUp">;
}

export function createRulebook({ beginWork, gate }: RulebookOptions): Rulebook {
  return {
    async play({ fen, moves }, check, counted) {
      await (counted && gate.refuseUsedUp(counted.account));
      const turn = beginWork(check);
      try {
        const game = await inTurns(replayMoves({ fen, moves }), turn);
        const legal = await inTurns(nameLegalMoves(game.last), turn);
        if (counted) {
          await gate.admitRules(counted);
        }
        return playedPosition(game, legal);
      } catch (thrown) {
        throw thrown instanceof KibitzError ? withCost(thrown, costOfMoves(moves.length)) : thrown;
      }
    },
    async readGame(pgn, ply, check, counted) {
      await (counted && gate.refuseUsedUp(counted.account));
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
          // If moves were played, the start has a history.
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
