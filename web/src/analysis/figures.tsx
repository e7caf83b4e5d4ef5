import { Path, StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { briefly } from "../parts/score-text.ts";
import { texts } from "../texts.ts";

const words = texts.analysis;

/** How the search went, in figures. Each has its place from the beginning. */
export function Figures({ evaluation }: { readonly evaluation: EvaluateResponse | undefined }) {
  const { search, engine } = evaluation ?? {};
  const rows: readonly (readonly [string, string])[] = [
    [words.depth, search ? words.depthOf(search.depth, search.seldepth) : ""],
    [words.nodes, search ? briefly(search.nodes) : ""],
    [words.speed, search && search.nps > 0n ? words.perSecond(briefly(search.nps)) : ""],
    [words.time, search ? words.seconds(search.timeMs) : ""],
    [
      words.engine,
      engine ? `${engine.name}${engine.path === Path.NATIVE ? `, ${texts.request.paths.native}` : ""}` : "",
    ],
  ];
  const end = endOf(search?.stopReason);
  const notes = [...(end ? [end] : []), ...(search?.cached ? [words.known] : [])].join(", ");
  return (
    <dl class="search-figures figures" aria-label={words.figures}>
      {rows.map(([name, value], index) => (
        // The last has a row of its own, with room for how it ended.
        <div key={name} {...(index === rows.length - 1 && { class: "search-engine" })}>
          <dt>{name}</dt>
          <dd>
            {value || "–"}
            {index === rows.length - 1 && notes && <span class="quiet-text"> · {notes}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function endOf(reason: StopReason | undefined): string | undefined {
  switch (reason) {
    case StopReason.MOVETIME:
      return words.stopReasons.movetime;
    case StopReason.SERVER_LIMIT:
      return words.stopReasons.limit;
    case StopReason.NODES:
      return words.stopReasons.nodes;
    default:
      return undefined;
  }
}
