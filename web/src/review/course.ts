import type { MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { GameNode } from "../game/game.ts";
import type { GraphBand, GraphPoint } from "../graph/graph.tsx";
import { numberedMove } from "../moves/move-number.ts";
import { scoreText } from "../parts/score-text.ts";
import { judgedOf, phases } from "./judged.ts";

/** Returns White's chances in percent for each ply. Ply 0 is the start of the game. */
export function courseOf(
  line: readonly GameNode[],
  moves: readonly MoveReview[],
  start: number | undefined,
): readonly GraphPoint[] {
  const points: GraphPoint[] =
    start === undefined
      ? []
      : [{ x: 0, y: start, words: `Start of the game, White’s chances ${Math.round(start)}%`, tip: "Start" }];
  for (const [index, node] of line.slice(1).entries()) {
    const move = moves[index];
    if (move) {
      const judged = judgedOf(move);
      const san = numberedMove(node);
      points.push({
        x: move.ply,
        y: move.winPercent,
        words: `${san}${judged ? `, ${judged.name}` : ""}, White’s chances ${Math.round(move.winPercent)}%`,
        tip: `${san}${judged?.sign ?? ""} ${scoreText(move.evaluation)}`,
        ...(judged && { mark: judged.name }),
      });
    }
  }
  return points;
}

/** A phase begins at the position before its first move. */
export function bandsOf(moves: readonly MoveReview[]): readonly GraphBand[] {
  return phases.flatMap(({ phase, title }) => {
    const plies = moves.filter((move) => move.phase === phase).map(({ ply }) => ply);
    const [first, last] = [plies[0], plies.at(-1)];
    return first === undefined || last === undefined ? [] : [{ name: title, from: first - 1, to: last }];
  });
}
