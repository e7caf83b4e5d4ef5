import { Graph } from "../graph/graph.tsx";
import { Mark } from "../graph/mark.tsx";
import { usePage } from "../page.ts";
import { bandsOf, courseOf } from "./course.ts";
import { allJudged } from "./judged.ts";

export function CourseGraph() {
  const { game, review } = usePage();
  const state = review.progress.value;
  const moves = review.moves.value;
  // Show the empty graph while a review is running, so that the layout does not move later.
  if (moves.length === 0 && state.kind !== "running") {
    return null;
  }
  const start = review.scoreOf(game.game.value.start)?.winPercent;
  return (
    <div>
      <Graph
        label="White’s chances of winning over the game"
        points={courseOf(review.line.value, moves, start)}
        range={[0, review.isStale.value ? moves.length : review.plies.value]}
        bands={bandsOf(moves)}
        current={review.branch.value.ply}
        onChoose={review.goToPly}
      />
      <ul class="row quiet-text" aria-label="Signs in the graph">
        {allJudged.map(({ name, title, sign }) => (
          <li key={name}>
            <svg viewBox="-7 -7 14 14" width="14" height="14" aria-hidden="true">
              <Mark name={name} />
            </svg>{" "}
            {title} {sign}
          </li>
        ))}
      </ul>
    </div>
  );
}
