import type { JsonObject } from "@bufbuild/protobuf";
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { AnalysisRequestSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { messageFromPlain } from "../client/plain-json.ts";
import { ProblemView } from "../problem/problem-view.tsx";
import { isWaitingForOptions, searchRequest, settingFaults, settings } from "../request/request.ts";
import { settingsFromRequest } from "../request/settings.ts";
import { texts } from "../texts.ts";
import { askNow, auto } from "./auto.ts";
import { Chances } from "./chances.tsx";
import { DepthGraph } from "./depth-graph.tsx";
import { Figures } from "./figures.tsx";
import { Lines } from "./lines.tsx";
import { evaluations, isUnderWay, retryNow, type SearchState, search, stop } from "./live.ts";
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
      {state.kind === "lost" && <Lost key={state.failures} waitMs={state.waitMs} />}
      <Chances wdl={evaluation?.score?.wdl} />
      {state.kind === "refused" && <ProblemView error={state.error} onRetry={askNow} onSend={send} />}
      <Lines
        lines={evaluation?.lines ?? []}
        wanted={position.value.terminal ? 0 : (searchRequest.value.multipv ?? 1)}
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
          disabled={isWaitingForOptions.value || Object.keys(settingFaults.value).length > 0}
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

/** Nobody answers: when it is asked again, and a way not to wait for it. */
function Lost({ waitMs }: { readonly waitMs: number }) {
  const left = useSignal(Math.ceil(waitMs / 1000));
  useEffect(() => {
    const timer = setInterval(() => {
      left.value = Math.max(left.value - 1, 0);
    }, 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <p class="search-lost figures">
      {words.states.lostUntil(left.value)}
      <button type="button" onClick={retryNow}>
        {words.states.retry}
      </button>
    </p>
  );
}

/** Asks what the service suggests, with the settings that it has. */
function send(suggested: JsonObject): void {
  const request = messageFromPlain(AnalysisRequestSchema, suggested);
  settings.value = settingsFromRequest(request);
  askNow();
}
