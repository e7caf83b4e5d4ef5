import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { Graph } from "../graph/graph.tsx";
import { scoreText } from "../parts/score-text.ts";
import { texts } from "../texts.ts";

const words = texts.analysis;

/** How the score has changed from depth to depth. */
export function DepthGraph({ evaluations }: { readonly evaluations: readonly EvaluateResponse[] }) {
  const points = evaluations.flatMap(({ score, search }) =>
    score && search && search.depth > 0
      ? [{ x: search.depth, y: score.winPercent, words: words.atDepth(search.depth, scoreText(score)) }]
      : [],
  );
  const deepest = evaluations.at(-1)?.search;
  const end = Math.max(deepest?.limits?.depth ?? 0, points.at(-1)?.x ?? 0, 2);
  return (
    <Graph
      label={[words.scoreByDepth, points.at(-1)?.words ?? words.noEvaluation].join(". ")}
      points={points}
      frame={{ x: [1, end], y: [0, 100] }}
      base={0}
      middle={50}
      // A line needs two points; one is shown for itself.
      current={points.length === 1 ? 0 : undefined}
    />
  );
}
