import { Graph } from "../graph/graph.tsx";
import { MarkSign } from "../graph/mark.tsx";
import { usePage } from "../page.ts";
import { bandsOf, courseOf, startPercent } from "./course.ts";
import { allJudged } from "./judged.ts";

/** White's chances over the game, as far as they are known; a click or a key leads to a move. */
export function CourseGraph() {
  const { game, review } = usePage();
  const state = review.progress.value;
  const moves = review.moves.value;
  // A review that has begun keeps room for its graph, so that nothing moves when the first move is reviewed.
  if (moves.length === 0 && state.kind !== "running") {
    return null;
  }
  const { fen } = game.game.value.start.position;
  const start = startPercent(fen, state.kind === "done" ? state.review.startEvaluation : undefined);
  const points = courseOf(review.line.value, moves, start);
  const current = points.findIndex(({ x }) => x === review.branch.value.ply);
  return (
    <div class="review-course">
      <Graph
        label="White’s chances of winning over the game"
        points={points}
        frame={{ x: [0, review.plies.value], y: [0, 100] }}
        base={0}
        middle={50}
        bands={bandsOf(moves)}
        current={current === -1 ? undefined : current}
        onChoose={(index) => review.goToPly(points[index]?.x ?? 0)}
      />
      <ul class="review-legend quiet-text" aria-label="Signs in the graph">
        {allJudged.map(({ name, title, mark, sign }) => (
          <li key={name}>
            <MarkSign shape={mark} /> {title} {sign}
          </li>
        ))}
      </ul>
    </div>
  );
}
