import { Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { Graph } from "../graph/graph.tsx";
import { briefly, scoreText } from "../parts/score-text.ts";
import { texts } from "../texts.ts";

const words = texts.analysis;

interface FiguresProps {
  /** Depth by depth. Cached answers have only one depth. */
  readonly evaluations: readonly EvaluateResponse[];
}

/** How much the engine has searched, in one line, which unfolds the score by depth. */
export function Figures({ evaluations }: FiguresProps) {
  const { search, engine } = evaluations.at(-1) ?? {};
  const parts = [
    search && words.depthOf(search.depth, search.seldepth),
    search && search.nodes > 0n && words.nodes(briefly(search.nodes)),
    search && search.nps > 0n && words.perSecond(briefly(search.nps)),
    search && search.nodes > 0n && words.seconds(search.timeMs),
    search?.cached && words.cached,
    engine && `${engine.name}${engine.path === Path.NATIVE ? `, ${texts.request.paths.native}` : ""}`,
  ];
  const figures = parts.filter(Boolean).join(" · ");
  const points = evaluations.flatMap(({ score, search: at }) =>
    score && at && at.depth > 0
      ? [{ x: at.depth, y: score.winPercent, words: words.atDepth(at.depth, scoreText(score)) }]
      : [],
  );
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first === last) {
    return <p class="search-figures quiet-text figures">{figures}</p>;
  }
  return (
    <details class="search-figures quiet-text figures">
      <summary title={words.scoreByDepth}>{figures}</summary>
      <Graph
        label={`${words.scoreByDepth}. ${last.words}`}
        points={points}
        frame={{ x: [first.x, last.x], y: [0, 100] }}
        base={0}
        middle={50}
      />
    </details>
  );
}
