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

/** An evaluation in White's view: from a search, or from the result if the game is over. */
export interface EvaluatedPosition {
  readonly score: Score;
  /** The best move; undefined if and only if the game is over. */
  readonly best: MoveDescription | undefined;
  /** The lines of the search, best first. */
  readonly lines: readonly EvaluatedLine[];
}

interface EvaluatedLine {
  readonly score: Score;
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

/**
 * `book`: the position after the move, or a later one, has an opening name; `only_move`: the best move, if the second line has a
 * `winPercent` that is at least 10 points worse.
 */
type Label = "book" | "forced" | "best" | "only_move";

/** The review of a move. Percentages have four decimals. */
export interface MoveReview {
  /** The number of the move in plies, from 1. */
  readonly ply: number;
  readonly move: MoveDescription;
  /** The evaluation after the move, in White's view. */
  readonly evaluation: Score;
  /** White's winning chances after the move: a mate is 97.54 or 2.46. */
  readonly winPercent: number;
  /** The centipawns that the mover lost, at least 0. */
  readonly centipawnLoss: number;
  readonly winPercentLoss: number;
  readonly accuracy: number;
  readonly judgement: Judgement | undefined;
  /** The comment is worded as on Lichess: `(0.36 → -0.36) Inaccuracy. Ngf3 was best.` */
  readonly comment: string | undefined;
  readonly labels: readonly Label[];
  /** The phase of the game before the move. */
  readonly phase: Phase;
  /** The mover's clock after the move, in milliseconds. */
  readonly clockMs: number | undefined;
  /** The engine's best move; undefined if the game was already over by the rules. */
  readonly best: BestMove | undefined;
}

export interface BestMove {
  readonly move: MoveDescription;
  readonly score: Score;
  /** The best line in UCI, at most 12 plies. */
  readonly moves: readonly string[];
  readonly san: readonly string[];
  readonly alternatives: readonly Alternative[];
}

interface Alternative {
  /** The rank of the line in the search, from 1. */
  readonly rank: number;
  readonly move: MoveDescription;
  readonly score: Score;
}

export interface Play {
  /** Accuracies are from 0 to 100, with four decimals. */
  readonly accuracy: number | undefined;
  /** The average loss in centipawns; undefined if no move counts. */
  readonly averageCentipawnLoss: number | undefined;
  readonly inaccuracies: number;
  readonly mistakes: number;
  readonly blunders: number;
}

/** The statistics of a side in a whole game: `accuracy` is undefined unless both sides moved. */
export interface PlayerReview extends Play {
  /** The statistics of each phase; undefined if no move of it counts. */
  readonly phases: Readonly<Record<Phase, Play | undefined>>;
}

export interface GameReview {
  readonly method: typeof reviewMethod;
  /** The evaluation of the start; undefined for the standard start, for which reviews assume 15 centipawns. */
  readonly startEvaluation: Score | undefined;
  readonly opening: Opening | undefined;
  readonly moves: readonly MoveReview[];
  readonly players: Readonly<Record<Color, PlayerReview>>;
}

/** The longest line of a best move in plies, as on Lichess. */
const linePliesMax = 12;

/** The least lead of an only good move over the second line, in points of `winPercent`. */
const onlyMovePoints = 10;

/** Reviews each move as soon as the positions before and after it are evaluated, and then the whole game. */
export function createReviewer(game: Game, opening: Opening | undefined) {
  const divide = createDivider();
  const phases: Phase[] = [];
  const start = positionAt(game, 0);
  const isStandardStart = openingKey(start.fen) === openingKey(standardStart);

  /** For the standard start, the formulas use the evaluation that Lichess assumes. */
  const assumed = (index: number, { score }: EvaluatedPosition): ScoreValue =>
    index === 0 && isStandardStart ? { kind: "cp", cp: standardStartCp } : score.value;

  /** @param index the index of the move, from 0 */
  function reviewMove(index: number, before: EvaluatedPosition, after: EvaluatedPosition): MoveReview {
    // Find the phases move by move, because 600 positions at once would block the thread.
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

  /** @param evaluations the evaluations of all positions, the start first */
  function reviewGame(moves: readonly MoveReview[], evaluations: readonly EvaluatedPosition[]): GameReview {
    const [first] = evaluations;
    if (
      first === undefined ||
      evaluations.length !== moves.length + 1 ||
      moves.length !== game.moves.length
    ) {
      throw new RangeError("a move or a position of the game is missing");
    }
    // On Lichess, the mating move does not count in the statistics of its player.
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

/** Writes a score in the notation of Lichess, in White's view. */
function scoreText(value: ScoreValue): string {
  return value.kind === "cp" ? (value.cp / 100).toFixed(2) : `Mate in ${Math.abs(value.mate)}`;
}

/** True if the second line is much worse. False if the best move is not the first move of the first line. */
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
  // If the time limit ends a search, its best move may begin none of its lines.
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
