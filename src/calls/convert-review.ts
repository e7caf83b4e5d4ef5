import type { MessageInitShape } from "@bufbuild/protobuf";
import * as analysis from "../../gen/chess/analysis/v1/analysis_pb.ts";
import * as pb from "../../gen/chess/analysis/v1/game_pb.ts";
import type { ReviewGameRequest } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import {
  type Analysis,
  type AnalysisRequest,
  engineVersionDiffers,
  type Warning,
} from "../analysis/analysis.ts";
import type { Game } from "../game/game.ts";
import type { BestMove, GameReview, MoveReview, Play, PlayerReview } from "../game/review.ts";
import { summarizeReview } from "../game/summary.ts";
import { uuidv7 } from "../text/uuidv7.ts";
import {
  enumValue,
  messageFromBuild,
  messageFromMove,
  messageFromTableResult,
  numberFromLong,
  pathFromMessage,
  scoreMessage,
} from "./convert.ts";

export interface ReviewedGame {
  readonly game: Game;
  readonly review: GameReview;
  /** One analysis for each position of the game, including the start position. */
  readonly analyses: readonly Analysis[];
  readonly pgn: string;
}

export type MoveReviewMessage = MessageInitShape<typeof pb.MoveReviewSchema>;

export function searchOfReview({
  depth,
  nodes,
  lines,
  engine = "latest",
  path,
}: ReviewGameRequest): AnalysisRequest {
  return {
    fen: "startpos",
    moves: [],
    depth,
    nodes: numberFromLong(nodes),
    multipv: lines,
    movetimeMs: undefined,
    searchMoves: [],
    engine,
    path: pathFromMessage(path),
    options: {},
  };
}

export function messageFromReview(
  { game, review, analyses, pgn }: ReviewedGame,
  moves: readonly MoveReviewMessage[],
): MessageInitShape<typeof pb.GameReviewSchema> {
  const { startEvaluation, opening, players } = review;
  const [start] = game.positions;
  const search = searchMessage(analyses);
  const evaluated = analyses.find(({ stopReason }) => stopReason !== "terminal");
  return {
    id: uuidv7(),
    variant: start?.chess960 ? analysis.Variant.CHESS960 : analysis.Variant.STANDARD,
    ...(start && { startFen: start.fen }),
    ...(startEvaluation && {
      startEvaluation: scoreMessage(startEvaluation, start?.terminal ?? analyses[0]?.tablebase),
    }),
    tags: Object.fromEntries(game.tags),
    ...(evaluated && { engine: messageFromBuild(evaluated.request.build) }),
    method: review.method,
    ...(opening && { opening }),
    players: { white: playerMessage(players.white), black: playerMessage(players.black) },
    moves: [...moves],
    pgn,
    search,
    warnings: [
      ...game.warnings,
      ...(evaluated?.request.warnings.filter(({ code }) => code === engineVersionDiffers) ?? []),
      ...(evaluated && !evaluated.request.build.reproducible
        ? [notReproducible]
        : search.deterministic
          ? []
          : [timeLimited]),
    ],
    summary: summarizeReview(game, review),
  };
}

const timeLimited: Omit<Warning, "field"> = {
  code: "time_limited",
  message: "Not every search is reproducible, because time ended it: another review of the game may differ.",
};

const notReproducible: Omit<Warning, "field"> = {
  code: "not_reproducible",
  message: "Equal searches of this engine may differ: another review of the game may have other results.",
};

function limitsMessage([first]: readonly Analysis[]): MessageInitShape<typeof pb.ReviewLimitsSchema> {
  const { depth, nodes, multipv } = first?.request ?? {};
  return {
    ...(depth !== undefined && { depth }),
    ...(nodes !== undefined && { nodes: BigInt(nodes) }),
    ...(multipv !== undefined && { lines: multipv }),
  };
}

export function messageFromMoveReview(
  review: MoveReview,
  { positions }: Pick<Game, "positions">,
  tablebase: Analysis["tablebase"],
): MoveReviewMessage {
  const { move, evaluation, judgement, labels, phase, clockMs, best, comment: _, ...figures } = review;
  return {
    ...figures,
    move: messageFromMove(move),
    evaluation: scoreMessage(evaluation, positions[review.ply]?.terminal ?? tablebase),
    ...(judgement && { judgement: enumValue(pb.Judgement, judgement) }),
    labels: labels.map((label) => enumValue(pb.MoveLabel, label)),
    phase: enumValue(pb.GamePhase, phase),
    ...(clockMs !== undefined && { clockMs: BigInt(clockMs) }),
    ...(best && { best: bestMessage(best) }),
    ...(tablebase && { tablebase: messageFromTableResult(tablebase) }),
  };
}

function bestMessage({
  move,
  score,
  moves,
  san,
  alternatives,
}: BestMove): MessageInitShape<typeof pb.BestMoveSchema> {
  return {
    move: messageFromMove(move),
    score: scoreMessage(score),
    moves: [...moves],
    san: [...san],
    alternatives: alternatives.map((other) => ({
      rank: other.rank,
      move: messageFromMove(other.move),
      score: scoreMessage(other.score),
    })),
  };
}

function playerMessage({ phases, ...play }: PlayerReview): MessageInitShape<typeof pb.PlayerReviewSchema> {
  const { opening, middlegame, endgame } = phases;
  return {
    ...playFields(play),
    phases: {
      ...(opening && { opening: playFields(opening) }),
      ...(middlegame && { middlegame: playFields(middlegame) }),
      ...(endgame && { endgame: playFields(endgame) }),
    },
  };
}

function playFields({ accuracy, averageCentipawnLoss, inaccuracies, mistakes, blunders }: Play) {
  return {
    ...(accuracy !== undefined && { accuracy }),
    ...(averageCentipawnLoss !== undefined && { averageCentipawnLoss }),
    inaccuracies,
    mistakes,
    blunders,
  };
}

/** Counts only the positions that an engine evaluated. */
export function searchMessage(analyses: readonly Analysis[]): MessageInitShape<typeof pb.ReviewSearchSchema> {
  const evaluated = analyses.filter(({ stopReason }) => stopReason !== "terminal");
  const searched = evaluated.filter(({ cached }) => !cached);
  const total = (count: (one: Analysis) => number) => searched.reduce((sum, one) => sum + count(one), 0);
  return {
    positions: evaluated.length,
    searched: searched.length,
    cached: evaluated.length - searched.length,
    nodes: BigInt(total(({ counters }) => counters.nodes)),
    timeMs: BigInt(total(({ counters }) => counters.timeMs)),
    deterministic: evaluated.every(({ deterministic }) => deterministic),
    limits: limitsMessage(analyses),
  };
}
