import type { JsonObject } from "@bufbuild/protobuf";
import { AnalysisRequestSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { messageFromPlain } from "../client/plain-json.ts";
import { ProblemView } from "../problem/problem-view.tsx";
import { settingsFromRequest } from "../request/settings.ts";
import { request } from "../request/the-request.ts";
import { texts } from "../texts.ts";
import { askNow, auto } from "./auto.ts";
import { Chances } from "./chances.tsx";
import { DepthGraph } from "./depth-graph.tsx";
import { Figures } from "./figures.tsx";
import { Lines } from "./lines.tsx";
import { evaluations, isUnderWay, type SearchState, search, stop } from "./live.ts";
import { outcomeInWords } from "./outcome.ts";
import { scoreNow } from "./score-now.ts";
import { position } from "./state.ts";
import "./search-panel.css";

const words = texts.analysis;

/** The engine's evaluation of the position, and the settings of the search. */
export function SearchPanel() {
  const state = search.value;
  const evaluation = evaluations.value.at(-1);
  const outcome = outcomeInWords(position.value);
  return (
    <section class="panel search-panel" aria-labelledby="evaluation-title">
      <div class="search-head">
        <h3 id="evaluation-title" class="heard-only">
          {words.evaluation}
        </h3>
        <p class="search-score figures">{scoreNow.value.text || "–"}</p>
        <p class="search-state quiet-text figures">
          <StateInWords state={state} evaluation={evaluation} />
        </p>
        <StartOrStop state={state} />
      </div>
      {outcome && <p class="search-outcome">{outcome}</p>}
      <Chances wdl={evaluation?.score?.wdl} />
      {state.kind === "waiting" && (
        <ProblemView
          error={state.wait.error}
          wait={state.wait}
          onRetry={askNow}
          onCancel={stop}
          onSend={send}
        />
      )}
      {state.kind === "refused" && <ProblemView error={state.error} onRetry={askNow} onSend={send} />}
      <Lines
        lines={evaluation?.lines ?? []}
        wanted={position.value.terminal ? 0 : (request.search.value.multipv ?? 1)}
        position={position.value}
      />
      <Figures evaluation={evaluation} />
      <div class="search-graph">
        <DepthGraph evaluations={evaluations.value} />
      </div>
    </section>
  );
}

function StartOrStop({ state }: { readonly state: SearchState }) {
  return (
    <div class="row search-buttons">
      <label class="choice" title={words.autoHint}>
        <input
          type="checkbox"
          checked={auto.value}
          onChange={({ currentTarget: { checked } }) => {
            auto.value = checked;
          }}
        />
        {words.auto}
      </label>
      {isUnderWay(state) ? (
        <button type="button" class="search-button" onClick={stop}>
          {words.stop}
        </button>
      ) : (
        <button
          type="button"
          class="first search-button"
          disabled={request.isWaiting.value}
          onClick={() => askNow({ afresh: true })}
        >
          {words.start}
        </button>
      )}
    </div>
  );
}

interface StateProps {
  readonly state: SearchState;
  readonly evaluation: EvaluateResponse | undefined;
}

function StateInWords({ state, evaluation }: StateProps) {
  const depth = evaluation?.search?.depth ?? 0;
  switch (state.kind) {
    case "searching":
    case "done":
      return words.states[state.kind](depth);
    case "queued":
      return words.states.queued(state.place, Math.ceil(state.waitMs / 1000));
    case "idle":
      return position.value.terminal ? words.states.over : words.states.idle;
    default:
      return words.states[state.kind];
  }
}

/** Asks what the service suggests, with the settings that it has. */
function send(suggested: JsonObject): void {
  request.settings.value = settingsFromRequest(messageFromPlain(AnalysisRequestSchema, suggested));
  askNow();
}
