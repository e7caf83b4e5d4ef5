import { Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { Graph } from "../graph/graph.tsx";
import { briefly, scoreText } from "../parts/score-text.ts";

interface FiguresProps {
  /** One evaluation for each depth. A cached response has only one evaluation. */
  readonly evaluations: readonly EvaluateResponse[];
}

export function Figures({ evaluations }: FiguresProps) {
  const { search, engine } = evaluations.at(-1) ?? {};
  const parts = [
    search && `depth ${search.depth}${search.seldepth > 0 ? `/${search.seldepth}` : ""}`,
    search && search.nodes > 0n && `${briefly(search.nodes)} nodes`,
    search && search.nps > 0n && `${briefly(search.nps)}/s`,
    search && search.nodes > 0n && `${(search.timeMs / 1000).toFixed(search.timeMs < 10_000 ? 1 : 0)} s`,
    search?.cached && "from cache",
    engine && `${engine.name}${engine.path === Path.NATIVE ? ", Native" : ""}`,
  ];
  const figures = parts.filter(Boolean).join(" · ");
  const points = evaluations.flatMap(({ score, search: at }) =>
    score && at && at.depth > 0
      ? [{ x: at.depth, y: score.winPercent, words: `Depth ${at.depth}: ${scoreText(score)}` }]
      : [],
  );
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first === last) {
    return <p class="search-figures quiet-text figures">{figures}</p>;
  }
  return (
    <details class="search-figures quiet-text figures">
      <summary title="Score by depth">{figures}</summary>
      <Graph label={`Score by depth. ${last.words}`} points={points} range={[first.x, last.x]} />
    </details>
  );
}
