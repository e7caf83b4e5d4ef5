import { describeMove, type MoveDescription } from "../chess/moves.ts";
import type { Color, Position } from "../chess/position.ts";
import { type Score, type ScoreValue, winPercentOfCp } from "../chess/score.ts";
import { standardStart } from "../chess/validate-position.ts";
import { centipawnsOf, gameAccuracy, mean, moveAccuracy, reviewMethod, standardStartCp } from "./accuracy.ts";
import type { Opening } from "./find-opening.ts";
import type { Game } from "./game.ts";
import { adviseOn, type Judgement } from "./judgement.ts";
import { openingKey } from "./opening-key.ts";
import { createDivider, type Phase } from "./phases.ts";

/** The evaluation of a position: from a search, or from the result if the game is over there. White's view. */
export interface EvaluatedPosition {
  readonly score: Score;
  /** Undefined exactly when the game is over. */
  readonly best: MoveDescription | undefined;
  /** Best first. */
  readonly lines: readonly EvaluatedLine[];
}

interface EvaluatedLine {
  readonly score: Score;
  /** UCI. */
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

/**
 * - `book`: the move leads to the last position of the game that has an opening name, or comes before it
 * - `forced`: the only legal move
 * - `best`: the move that the engine named best
 * - `only_move`: the best move, if the second line has at least 10 points of `winPercent` less
 */
type Label = "book" | "forced" | "best" | "only_move";

/** A move, explained. Percentages have four decimals. */
export interface MoveReview {
  /** From 1. */
  readonly ply: number;
  readonly move: MoveDescription;
  /** After the move, White's view. */
  readonly evaluation: Score;
  /** White's chances after the move, on the scale of reviews: a mate is 97.54 or 2.46. */
  readonly winPercent: number;
  /** Loss of the mover, at least 0. */
  readonly centipawnLoss: number;
  readonly winPercentLoss: number;
  /** 0 to 100. */
  readonly accuracy: number;
  /** Undefined if the move is not bad. */
  readonly judgement: Judgement | undefined;
  /** Worded as on Lichess: `(0.36 → -0.36) Inaccuracy. Ngf3 was best.` */
  readonly comment: string | undefined;
  readonly labels: readonly Label[];
  /** Phase of the position before the move. */
  readonly phase: Phase;
  /** The mover's clock after the move, in milliseconds. */
  readonly clockMs: number | undefined;
  /** The engine's best move; undefined if the rules had already ended the game. */
  readonly best: BestMove | undefined;
}

export interface BestMove {
  readonly move: MoveDescription;
  readonly score: Score;
  /** The line that begins with it, at most 12 plies, in UCI. */
  readonly moves: readonly string[];
  readonly san: readonly string[];
  readonly alternatives: readonly Alternative[];
}

interface Alternative {
  /** Rank among the lines, from 1. */
  readonly rank: number;
  readonly move: MoveDescription;
  readonly score: Score;
}

/** Figures of a side: in a whole game, or in a phase. */
export interface Play {
  /** 0 to 100, four decimals. */
  readonly accuracy: number | undefined;
  /** Undefined if no move counts. */
  readonly averageCentipawnLoss: number | undefined;
  readonly inaccuracies: number;
  readonly mistakes: number;
  readonly blunders: number;
}

/** Figures of a whole game. `accuracy` is undefined unless both sides moved. */
export interface PlayerReview extends Play {
  /** Means over the moves of a phase; undefined if no move counts. */
  readonly phases: Readonly<Record<Phase, Play | undefined>>;
}

export interface GameReview {
  readonly method: typeof reviewMethod;
  /** Undefined for the standard start, for which 15 centipawns are assumed. */
  readonly startEvaluation: Score | undefined;
  readonly opening: Opening | undefined;
  readonly moves: readonly MoveReview[];
  readonly players: Readonly<Record<Color, PlayerReview>>;
}

/** Longest line of a best move, as on Lichess. */
const linePliesMax = 12;

/** Least difference of `winPercent` between the first line and the second. */
const onlyMovePoints = 10;

/**
 * Explains a game's moves, each as soon as its positions are evaluated, and then the game, by the formulas of {@link reviewMethod}. The
 * same evaluations make the same review.
 */
export function createReviewer(game: Game, opening: Opening | undefined) {
  const divide = createDivider();
  const phases: Phase[] = [];
  const start = positionAt(game, 0);
  const isStandardStart = openingKey(start.fen) === openingKey(standardStart);

  /** The evaluation that the formulas use: Lichess assumes one for the standard start. */
  const assumed = (index: number, { score }: EvaluatedPosition): ScoreValue =>
    index === 0 && isStandardStart ? { kind: "cp", cp: standardStartCp } : score.value;

  /**
   * @param index of the move, from 0
   * @param before the position in which it was played
   */
  function reviewMove(index: number, before: EvaluatedPosition, after: EvaluatedPosition): MoveReview {
    // Computed move by move, because 600 positions at once would block the thread.
    while (phases.length <= index) {
      phases.push(divide(positionAt(game, phases.length).fen));
    }
    const move = game.moves[index];
    const phase = phases[index];
    if (move === undefined || phase === undefined) {
      throw new RangeError(`the game has no move ${index}`);
    }
    const position = positionAt(game, index);
    const mover = position.turn;
    const isBest = move.uci === before.best?.uci;
    const value = assumed(index, before);
    const mates = isMate(game, index + 1);
    const cpBefore = mates ? 0 : centipawnsOf(value);
    const cpAfter = mates ? 0 : centipawnsOf(after.score.value);
    const [percentBefore, percentAfter] = [percentOf(cpBefore, mover), percentOf(cpAfter, mover)];
    // Noise of the search can make the best move look like a mistake.
    const advice = mates || isBest ? undefined : adviseOn(value, after.score.value, mover);
    const named = before.best === undefined ? "" : ` ${before.best.san} was best.`;
    const scores = `(${scoreText(value)} → ${scoreText(after.score.value)})`;
    return {
      ply: index + 1,
      move,
      evaluation: after.score,
      winPercent: rounded(
        mates ? percentOf(centipawnsOf(mateFor(mover)), "white") : percentOf(cpAfter, "white"),
      ),
      centipawnLoss: Math.max(0, mover === "white" ? cpBefore - cpAfter : cpAfter - cpBefore),
      winPercentLoss: rounded(Math.max(0, percentBefore - percentAfter)),
      accuracy: rounded(moveAccuracy(percentBefore, percentAfter)),
      judgement: advice?.judgement,
      comment: advice && `${scores} ${advice.comment}.${named}`,
      labels: [
        ...(index < (opening?.ply ?? 0) ? (["book"] as const) : []),
        ...(position.legalMoveCount === 1 ? (["forced"] as const) : []),
        ...(isBest ? (["best"] as const) : []),
        ...(isBest && isOnly(before, mover) ? (["only_move"] as const) : []),
      ],
      phase,
      clockMs: game.clocksMs[index],
      best: bestMoveOf(before, position),
    };
  }

  /**
   * @param moves the reviews of all moves
   * @param evaluations of all positions of the game
   */
  function reviewGame(moves: readonly MoveReview[], evaluations: readonly EvaluatedPosition[]): GameReview {
    const [first] = evaluations;
    if (
      first === undefined ||
      evaluations.length !== moves.length + 1 ||
      moves.length !== game.moves.length
    ) {
      throw new RangeError("a move or a position of the game is missing");
    }
    // On Lichess, the mating move does not count in the figures of its player.
    const counted = isMate(game, moves.length) ? moves.slice(0, -1) : moves;
    const weighed = evaluations.slice(0, counted.length + 1);
    const cps = weighed.map((evaluation, index) => centipawnsOf(assumed(index, evaluation)));
    const accuracies = gameAccuracy(cps, start.turn);
    const movesOf = (color: Color) => counted.filter(({ ply }) => positionAt(game, ply - 1).turn === color);
    const player = (color: Color): PlayerReview => ({
      ...playOf(movesOf(color), accuracies?.[color]),
      phases: {
        opening: playInPhase(movesOf(color), "opening"),
        middlegame: playInPhase(movesOf(color), "middlegame"),
        endgame: playInPhase(movesOf(color), "endgame"),
      },
    });
    return {
      method: reviewMethod,
      startEvaluation: isStandardStart ? undefined : first.score,
      opening,
      moves,
      players: { white: player("white"), black: player("black") },
    };
  }

  return { move: reviewMove, game: reviewGame };
}

function positionAt(game: Game, index: number): Position {
  const position = game.positions[index];
  if (position === undefined) {
    throw new RangeError(`the game has no position ${index}`);
  }
  return position;
}

function isMate(game: Game, index: number): boolean {
  return positionAt(game, index).terminal?.reason === "checkmate";
}

function mateFor(side: Color): ScoreValue {
  return { kind: "mate", mate: side === "white" ? 1 : -1 };
}

function percentOf(cp: number, side: Color): number {
  return winPercentOfCp(side === "white" ? cp : -cp);
}

function rounded(percent: number): number {
  return Math.round(percent * 10_000) / 10_000;
}

/** A score in the notation of Lichess, White's view. */
function scoreText(value: ScoreValue): string {
  return value.kind === "cp" ? (value.cp / 100).toFixed(2) : `Mate in ${Math.abs(value.mate)}`;
}

/** True if the second line is much worse than the first. False if the best move is not the first move of the first line. */
function isOnly({ best, lines: [first, second] }: EvaluatedPosition, mover: Color): boolean {
  if (first === undefined || second === undefined || first.moves[0] !== best?.uci) {
    return false;
  }
  const chances = ({ score }: EvaluatedLine) => percentOf(centipawnsOf(score.value), mover);
  return chances(first) - chances(second) >= onlyMovePoints;
}

function bestMoveOf({ score, best, lines }: EvaluatedPosition, position: Position): BestMove | undefined {
  if (best === undefined) {
    return undefined;
  }
  // If time ends a search, its best move may begin no line.
  const line = lines.find(({ moves: [first] }) => first === best.uci);
  return {
    move: best,
    score: line?.score ?? score,
    moves: line?.moves.slice(0, linePliesMax) ?? [best.uci],
    san: line?.san.slice(0, linePliesMax) ?? [best.san],
    alternatives: lines.flatMap((other, index) => {
      const move = other === line ? undefined : describeMove(position, other.moves[0] ?? "");
      return move ? [{ rank: index + 1, move, score: other.score }] : [];
    }),
  };
}

function playOf(moves: readonly MoveReview[], accuracy: number | undefined): Play {
  const loss = mean(moves.map(({ centipawnLoss }) => centipawnLoss));
  const count = (judgement: Judgement) => moves.filter((move) => move.judgement === judgement).length;
  return {
    accuracy: accuracy === undefined ? undefined : rounded(accuracy),
    averageCentipawnLoss: loss === undefined ? undefined : Math.round(loss),
    inaccuracies: count("inaccuracy"),
    mistakes: count("mistake"),
    blunders: count("blunder"),
  };
}

function playInPhase(moves: readonly MoveReview[], phase: Phase): Play | undefined {
  const own = moves.filter((move) => move.phase === phase);
  return own.length === 0 ? undefined : playOf(own, mean(own.map(({ accuracy }) => accuracy)));
}
