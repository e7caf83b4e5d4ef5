import { describeMove, type MoveDescription } from "../chess/moves.ts";
import type { Color, Position } from "../chess/position.ts";
import { standardStart } from "../chess/read-fen.ts";
import { type KnownResult, type Score, type ScoreValue, winPercentOfCp } from "../chess/score.ts";
import {
  centipawnsOf,
  centipawnsOfResult,
  gameAccuracy,
  mean,
  moveAccuracy,
  reviewMethod,
  standardStartCp,
} from "./accuracy.ts";
import type { Opening } from "./find-opening.ts";
import type { Game } from "./game.ts";
import { adviseOn, type Judgement } from "./judgement.ts";
import { openingKey } from "./opening-key.ts";
import { createDivider, type Phase } from "./phases.ts";

/** An evaluation from White's point of view. For a terminal position, the result of the game decides the score. */
export interface EvaluatedPosition {
  readonly score: Score;
  /** The best move. Undefined only for a terminal position. */
  readonly best: MoveDescription | undefined;
  /** The lines of the search. The best line is the first. */
  readonly lines: readonly EvaluatedLine[];
  /** The result that endgame tables know. The position then counts as won or drawn, whatever the score is. */
  readonly tablebase?: KnownResult | undefined;
}

interface EvaluatedLine {
  readonly score: Score;
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

/** `book`: this move or a later move reaches an opening with a name. `only_move`: the second line is much worse. */
type Label = "book" | "forced" | "best" | "only_move";

/** The review of a move. Percentages are rounded to four decimals. */
export interface MoveReview {
  /** The first move is number 1. */
  readonly ply: number;
  readonly move: MoveDescription;
  /** The evaluation of the position after the move, from White's point of view. */
  readonly evaluation: Score;
  /** White's winning chances after the move, in percent. The value is from 2.46 to 97.54, also for a forced mate. */
  readonly winPercent: number;
  /** The number of centipawns that the mover lost. Never negative. */
  readonly centipawnLoss: number;
  readonly winPercentLoss: number;
  readonly accuracy: number;
  readonly judgement: Judgement | undefined;
  /** The comment in the form that Lichess uses: `(0.36 → -0.36) Inaccuracy. Ngf3 was best.` */
  readonly comment: string | undefined;
  readonly labels: readonly Label[];
  /** The phase of the game before the move. */
  readonly phase: Phase;
  /** The time on the mover's clock after the move, in milliseconds. */
  readonly clockMs: number | undefined;
  /** The best move of the engine. Undefined if the game was over before the move. */
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
  readonly rank: number;
  readonly move: MoveDescription;
  readonly score: Score;
}

export interface Play {
  /** The accuracy from 0 to 100, with four decimals. */
  readonly accuracy: number | undefined;
  /** The average loss per move in centipawns. Undefined if the player made no move. */
  readonly averageCentipawnLoss: number | undefined;
  readonly inaccuracies: number;
  readonly mistakes: number;
  readonly blunders: number;
}

/** The statistics of one player for the complete game. `accuracy` is undefined if the player has made no move. */
export interface PlayerReview extends Play {
  /** The statistics of each phase. Undefined for a phase in which the player has no reviewed move. */
  readonly phases: Readonly<Record<Phase, Play | undefined>>;
}

export interface GameReview {
  readonly method: typeof reviewMethod;
  /** The evaluation of the start position. Undefined for the standard start position, because Lichess assumes 15 centipawns. */
  readonly startEvaluation: Score | undefined;
  readonly opening: Opening | undefined;
  readonly moves: readonly MoveReview[];
  readonly players: Readonly<Record<Color, PlayerReview>>;
}

/** The maximum length of a best line in plies, as on Lichess. */
const linePliesMax = 12;

/** The best move is the only good move if the second line is at least this much worse, in points of `winPercent`. */
const onlyMovePoints = 10;

/** The method `move` needs the evaluations before and after a move. The method `game` needs all evaluations. */
export function createReviewer(game: Game, opening: Opening | undefined) {
  const divide = createDivider();
  const phases: Phase[] = [];
  const start = positionAt(game, 0);
  const isStandardStart = openingKey(start.fen) === openingKey(standardStart);

  /** Returns the score for the formulas. For the standard start position, this is the score that Lichess assumes. */
  function assumed(index: number, { score, tablebase }: EvaluatedPosition): ScoreValue {
    if (index === 0 && isStandardStart) {
      return { kind: "cp", cp: standardStartCp };
    }
    return tablebase ? { kind: "cp", cp: centipawnsOfResult(tablebase) } : score.value;
  }

  function reviewMove(index: number, before: EvaluatedPosition, after: EvaluatedPosition): MoveReview {
    // The phase is found move by move, because a loop over 600 positions would block the thread.
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
    const valueAfter = assumed(index + 1, after);
    const mates = isMate(game, index + 1);
    const cpBefore = mates ? 0 : centipawnsOf(value);
    const cpAfter = mates ? 0 : centipawnsOf(valueAfter);
    const [percentBefore, percentAfter] = [percentOf(cpBefore, mover), percentOf(cpAfter, mover)];
    // Two searches differ a little, so even the best move can seem to be a mistake.
    // From a mate that the engine sees to a win that the tables know, nothing is lost.
    const wins = after.tablebase?.winner === mover;
    const advice = mates || isBest || wins ? undefined : adviseOn(value, valueAfter, mover);
    const named = before.best === undefined ? "" : ` ${before.best.san} was best.`;
    const scores = `(${scoreText(value)} → ${scoreText(valueAfter)})`;
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

  /** @param evaluations the evaluations of the start position and of the position after each move */
  function reviewGame(moves: readonly MoveReview[], evaluations: readonly EvaluatedPosition[]): GameReview {
    const [first] = evaluations;
    if (
      first === undefined ||
      evaluations.length !== moves.length + 1 ||
      moves.length !== game.moves.length
    ) {
      throw new RangeError("a move or a position of the game is missing");
    }
    // Like Lichess, exclude the move that gives checkmate from the statistics of its player.
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

/** Returns a score in the notation of Lichess, from White's point of view. */
function scoreText(value: ScoreValue): string {
  return value.kind === "cp" ? (value.cp / 100).toFixed(2) : `Mate in ${Math.abs(value.mate)}`;
}

/** True if the second line is much worse than the best move. False if the best move does not begin the first line. */
function isOnly({ best, lines: [first, second] }: EvaluatedPosition, mover: Color): boolean {
  if (first === undefined || second === undefined || first.moves[0] !== best?.uci) {
    return false;
  }
  const chances = ({ score }: EvaluatedLine) => percentOf(centipawnsOf(score.value), mover);
  return chances(first) - chances(second) >= onlyMovePoints;
}

function bestMoveOf(
  { score, best, lines, tablebase }: EvaluatedPosition,
  position: Position,
): BestMove | undefined {
  if (best === undefined) {
    return undefined;
  }
  // If the best move is from an endgame table, or if time ended the search, it is possible that no line begins with the best move.
  const line = lines.find(({ moves: [first] }) => first === best.uci);
  return {
    move: best,
    score: line?.score ?? score,
    moves: line?.moves.slice(0, linePliesMax) ?? [best.uci],
    san: line?.san.slice(0, linePliesMax) ?? [best.san],
    alternatives: lines.flatMap((other, index) => {
      // A first line that is not the best move of an endgame table gives the result away.
      const isReplaced = index === 0 && tablebase !== undefined;
      const move = other !== line && !isReplaced ? describeMove(position, other.moves[0] ?? "") : undefined;
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
