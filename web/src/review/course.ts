import { INITIAL_FEN } from "chessops/fen";
import type { Score } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { winPercentOfCp } from "../../../src/chess/score.ts";
import { centipawnsOf, standardStartCp } from "../../../src/game/accuracy.ts";
import { openingKey } from "../../../src/game/opening-key.ts";
import type { GraphBand, GraphPoint } from "../graph/graph.tsx";
import { texts } from "../texts.ts";
import { judgedOf, phaseNames, phaseOf } from "./judged.ts";
import { moveNumber } from "./move-number.ts";

/** White's chances at the start, 0 to 100; undefined while nobody has evaluated it. */
export function startPercent(startFen: string, evaluation: Score | undefined): number | undefined {
  if (evaluation?.value.case === undefined) {
    const isStandardStart = openingKey(startFen) === openingKey(INITIAL_FEN);
    return isStandardStart ? winPercentOfCp(standardStartCp) : undefined;
  }
  const { value } = evaluation.value;
  const isMate = evaluation.value.case === "mate";
  return winPercentOfCp(centipawnsOf(isMate ? { kind: "mate", mate: value } : { kind: "cp", cp: value }));
}

/** White's chances over the plies of a game: `x` is the ply, 0 for the start, `y` 0 to 100. */
export function courseOf(
  startFen: string,
  moves: readonly MoveReview[],
  start: number | undefined,
): readonly GraphPoint[] {
  const points: GraphPoint[] =
    start === undefined ? [] : [{ x: 0, y: start, words: texts.review.pointAtStart(Math.round(start)) }];
  for (const move of moves) {
    const judged = judgedOf(move);
    points.push({
      x: move.ply,
      y: move.winPercent,
      words: texts.review.point(
        `${moveNumber(startFen, move.ply)} ${move.move?.san ?? ""}`,
        judged && texts.review.judgements[judged.name].one,
        Math.round(move.winPercent),
      ),
      ...(judged && { mark: judged.mark }),
    });
  }
  return points;
}

/** Returns the range of each phase, from the position in which its first move was played. */
export function bandsOf(moves: readonly MoveReview[]): readonly GraphBand[] {
  return phaseNames.flatMap((name) => {
    const plies = moves.filter((move) => phaseOf(move) === name).map(({ ply }) => ply);
    const [first, last] = [plies[0], plies.at(-1)];
    return first === undefined || last === undefined
      ? []
      : [{ name: texts.review.phases[name], from: first - 1, to: last }];
  });
}
