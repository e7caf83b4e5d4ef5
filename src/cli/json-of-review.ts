import { create } from "@bufbuild/protobuf";
import { EngineRefSchema, MoveSchema, ScoreSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import type { Analysis } from "../analysis/analysis.ts";
import { messageFromBuild, messageFromMove, scoreMessage } from "../calls/convert.ts";
import type { MoveDescription } from "../chess/moves.ts";
import type { Color } from "../chess/position.ts";
import type { Score } from "../chess/score.ts";
import type { KibitzError } from "../errors/errors.ts";
import { problemFromError } from "../errors/problem.ts";
import type { BestMove, MoveReview, Play, PlayerReview } from "../game/review.ts";
import { createMessageWriter } from "../protocols/json/codec/write-message.ts";
import { uuidv7 } from "../request/context.ts";
import { searchTotals } from "./report-of-review.ts";
import type { ReviewedGame } from "./review-game.ts";

const writeScore = createMessageWriter(ScoreSchema);
const writeMove = createMessageWriter(MoveSchema);
const writeEngine = createMessageWriter(EngineRefSchema);

/** A review in plain JSON: names and `null` as in the API's answers, and parts that those have, too, as they are there. */
export function jsonOfReview({
  game,
  review,
  analyses,
  pgn,
}: ReviewedGame): Readonly<Record<string, unknown>> {
  const { startEvaluation, opening, players } = review;
  const start = game.positions[0];
  const moves = review.moves.map((move) =>
    jsonOfMoveReview(move, game.positions[move.ply]?.terminal?.winner),
  );
  return {
    id: uuidv7(),
    variant: start?.chess960 ? "chess960" : "standard",
    start_fen: start?.fen,
    start_evaluation: startEvaluation ? jsonOfScore(startEvaluation) : null,
    tags: Object.fromEntries(game.tags),
    engine: jsonOfEngine(analyses),
    method: review.method,
    opening: opening ?? null,
    players: { white: jsonOfPlayer(players.white), black: jsonOfPlayer(players.black) },
    moves,
    pgn,
    ...jsonOfSearch(analyses),
  };
}

/** A game that could not be reviewed, as a problem document whose faults have their place in the file. */
export function jsonOfRefusal(error: KibitzError): Readonly<Record<string, unknown>> {
  const problem = problemFromError(error, "cli");
  const errors = problem.errors.map((fault, index) => ({ ...fault, ...error.faults[index]?.place }));
  return { ...problem, errors };
}

function jsonOfMoveReview(review: MoveReview, winner: Color | undefined) {
  return {
    ply: review.ply,
    move: jsonOfMove(review.move),
    evaluation: jsonOfScore(review.evaluation, winner),
    win_percent: review.winPercent,
    centipawn_loss: review.centipawnLoss,
    win_percent_loss: review.winPercentLoss,
    accuracy: review.accuracy,
    judgement: review.judgement ?? null,
    labels: review.labels,
    phase: review.phase,
    clock_ms: review.clockMs ?? null,
    best: review.best ? jsonOfBest(review.best) : null,
  };
}

function jsonOfBest({ move, score, moves, san, alternatives }: BestMove) {
  return {
    move: jsonOfMove(move),
    score: jsonOfScore(score),
    moves,
    san,
    alternatives: alternatives.map((other) => ({
      rank: other.rank,
      move: jsonOfMove(other.move),
      score: jsonOfScore(other.score),
    })),
  };
}

function jsonOfPlayer({ phases, ...play }: PlayerReview) {
  const { opening, middlegame, endgame } = phases;
  return {
    ...jsonOfPlay(play),
    phases: {
      opening: opening ? jsonOfPlay(opening) : null,
      middlegame: middlegame ? jsonOfPlay(middlegame) : null,
      endgame: endgame ? jsonOfPlay(endgame) : null,
    },
  };
}

function jsonOfPlay({ accuracy, averageCentipawnLoss, inaccuracies, mistakes, blunders }: Play) {
  return {
    accuracy: accuracy ?? null,
    average_centipawn_loss: averageCentipawnLoss ?? null,
    inaccuracies,
    mistakes,
    blunders,
  };
}

function jsonOfSearch(analyses: readonly Analysis[]) {
  const { timeMs, ...totals } = searchTotals(analyses);
  const { depth, nodes, multipv } = analyses[0]?.request ?? {};
  const limits = { depth: depth ?? null, nodes: nodes ?? null, lines: multipv };
  const warning = {
    code: "time_limited",
    message: "Not every search was ended by its depth or nodes: another review of the game may differ.",
    field: null,
  };
  const { deterministic, ...counts } = totals;
  return {
    search: { ...counts, time_ms: timeMs, limits, deterministic },
    warnings: deterministic ? [] : [warning],
  };
}

/** `null` where no engine was asked. */
function jsonOfEngine(analyses: readonly Analysis[]): unknown {
  const asked = analyses.find(({ stopReason }) => stopReason !== "terminal");
  return asked ? JSON.parse(writeEngine(messageFromBuild(asked.request.build))) : null;
}

function jsonOfMove(move: MoveDescription): unknown {
  return JSON.parse(writeMove(messageFromMove(move)));
}

/** @param winner where the game is over */
function jsonOfScore(score: Score, winner?: Color): unknown {
  return JSON.parse(writeScore(create(ScoreSchema, scoreMessage(score, winner))));
}
