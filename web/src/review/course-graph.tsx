import { Graph } from "../graph/graph.tsx";
import { MarkSign } from "../graph/mark.tsx";
import { texts } from "../texts.ts";
import { bandsOf, courseOf, startPercent } from "./course.ts";
import { blunder, inaccuracy, mistake } from "./judged.ts";
import { goTo, place } from "./looked-at.ts";
import type { PlayedGame } from "./played-game.ts";
import { explained, progress } from "./run-review.ts";

/** White's chances over the game, as far as they are known; a click or a key leads to a move. */
export function CourseGraph({ game }: { readonly game: PlayedGame }) {
  const { startFen, moves } = game;
  const state = progress.value;
  const start = startPercent(startFen, state.kind === "done" ? state.review.startEvaluation : undefined);
  const points = courseOf(startFen, explained.value, start);
  const current = points.findIndex(({ x }) => x === place.value.ply);
  return (
    <div class="review-course">
      <Graph
        label={texts.review.graph}
        points={points}
        frame={{ x: [0, moves.length], y: [0, 100] }}
        base={0}
        middle={50}
        bands={bandsOf(explained.value)}
        current={current === -1 ? undefined : current}
        onChoose={(index) => {
          // The graph itself says what is chosen in it.
          goTo({ ply: points[index]?.x ?? 0, step: 0 }, { isTold: true });
        }}
      />
      <ul class="review-legend quiet-text" aria-label={texts.review.legend}>
        {[inaccuracy, mistake, blunder].map(({ name, mark, sign }) => (
          <li key={name}>
            <MarkSign shape={mark} /> {texts.review.judgements[name].title} {sign}
          </li>
        ))}
      </ul>
    </div>
  );
}
