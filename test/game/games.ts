import { expect } from "vitest";
import { inOneGo } from "../../src/chess/in-one-go.ts";
import type { MoveDescription } from "../../src/chess/moves.ts";
import { describeMove } from "../../src/chess/moves.ts";
import { type KnownResult, type Score, type ScoreValue, scoreOfTerminal } from "../../src/chess/score.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import type { Opening } from "../../src/game/find-opening.ts";
import { type Game, gameFromPgn, legalGameFromMoves, withPositions } from "../../src/game/game.ts";
import { readSentGame } from "../../src/game/read-sent-game.ts";
import { createReviewer, type EvaluatedPosition, type GameReview } from "../../src/game/review.ts";

export function gameOfMoves(input: Parameters<typeof legalGameFromMoves>[0]): Game {
  return inOneGo(withPositions(inOneGo(legalGameFromMoves(input))));
}

export function gameOf(text: string): Game {
  return inOneGo(gameFromPgn(inOneGo(readSentGame(text))));
}

export function errorOf(read: () => unknown): KibitzError {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(KibitzError);
    return error as KibitzError;
  }
  return expect.fail("nothing was refused");
}

export const sansOf = ({ moves }: Game) => moves.map(({ san }) => san).join(" ");

/** Centipawns, or a mate in moves: `"#-3"` means that Black mates in three. A positive score is good for White. */
export type Shorthand = number | `#${number}`;

export function valueFrom(short: Shorthand): ScoreValue {
  return typeof short === "number"
    ? { kind: "cp", cp: short }
    : { kind: "mate", mate: Number(short.slice(1)) };
}

export function scoreOf(short: Shorthand): Score {
  return { value: valueFrom(short), bound: "exact", wdl: undefined };
}

/** Returns evaluations of all positions of a game, as an engine would return them. */
export function evaluate(
  { positions, moves }: Game,
  evaluations: readonly {
    readonly score: Shorthand;
    /** For each line: the first move in UCI notation, and the score. The default score of a line is `score`. */
    readonly lines?: readonly (readonly [uci: string, score?: Shorthand])[];
    /** The best move in UCI notation. Default: the first move of the first line. */
    readonly best?: string;
    readonly tablebase?: KnownResult;
  }[],
): readonly EvaluatedPosition[] {
  return positions.map((position, index) => {
    if (position.terminal) {
      return { score: scoreOfTerminal(position.terminal), best: undefined, lines: [] };
    }
    const {
      score = 0,
      lines = [[moves[index]?.uci ?? "0000"] as const],
      best,
      tablebase,
    } = evaluations[index] ?? {};
    const described = lines.flatMap(([uci, own = score]) => {
      const move: MoveDescription | undefined = describeMove(position, uci);
      return move ? [{ move, line: { score: scoreOf(own), moves: [move.uci], san: [move.san] } }] : [];
    });
    return {
      score: scoreOf(score),
      best: best === undefined ? described[0]?.move : describeMove(position, best),
      lines: described.map(({ line }) => line),
      tablebase,
    };
  });
}

export function review(
  game: Game,
  evaluations: Parameters<typeof evaluate>[1],
  opening?: Opening,
): GameReview {
  const evaluated = evaluate(game, evaluations);
  const reviewer = createReviewer(game, opening);
  const moves = evaluated.slice(1).map((after, index) => {
    const before = evaluated[index];
    return before ? reviewer.move(index, before, after) : expect.fail("a position is missing");
  });
  return reviewer.game(moves, evaluated);
}
