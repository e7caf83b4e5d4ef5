import type { JsonObject } from "@bufbuild/protobuf";
import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { numberedMove } from "../moves/move-number.ts";
import { usePage } from "../page.ts";
import { wordsOfWarning } from "../parts/plain-words.ts";
import { resultText } from "../parts/result-text.ts";
import { ProblemView } from "../problem/problem-view.tsx";
import { settingsFromPlain } from "../request/settings.ts";
import { Chances } from "./chances.tsx";
import { isUnderWay } from "./create-analysis.ts";
import { Figures } from "./figures.tsx";
import { Lines } from "./lines.tsx";
import { outcomeInWords } from "./outcome.ts";
import { useStateInWords } from "./state-in-words.ts";
import "./search-panel.css";

export function SearchPanel() {
  const { analysis, request, game, display } = usePage();
  const state = analysis.search.value;
  const evaluation = analysis.latest.value;
  const { position, move } = game.at.value;
  const outcome = outcomeInWords(position);
  const result = resultText(evaluation?.tablebase);
  const wait = state.kind === "waiting" ? state.wait : undefined;
  // Show the panel during a search even without an evaluation, so that the layout does not move.
  const isShown = !position.terminal && (evaluation || (isUnderWay(state) && !wait));
  const send = (suggested: JsonObject) => {
    request.settings.value = settingsFromPlain(suggested);
    analysis.ask();
  };
  return (
    <section class="panel stack search-panel" aria-labelledby="evaluation-title">
      <div class="row">
        <h3 id="evaluation-title" class="heard-only">
          Evaluation
        </h3>
        {(isShown || position.terminal) && <p class="search-score figures">{analysis.score.value.text}</p>}
        {result && <p class="search-result">{result}</p>}
        <div class="search-at">
          {move && <p class="search-move">{numberedMove(game.at.value)}</p>}
          <p class="search-state quiet-text figures">{useStateInWords()}</p>
        </div>
        <Buttons />
      </div>
      {outcome && <p class="search-outcome notice">{outcome}</p>}
      {(wait || state.kind === "refused") && (
        <ProblemView
          error={state.kind === "refused" ? state.error : wait?.error}
          wait={wait}
          onCancel={analysis.stop}
          onRetry={analysis.ask}
          onSend={send}
        />
      )}
      {isShown && (
        <>
          {(!evaluation || evaluation.score?.wdl) && <Chances wdl={evaluation?.score?.wdl} />}
          {display.lines.isOn.value && (
            <Lines
              lines={evaluation?.lines ?? []}
              wanted={isUnderWay(state) ? (request.search.value.multipv ?? 1) : 0}
            />
          )}
          <Figures evaluations={analysis.evaluations.value} />
          {evaluation &&
            notesOn(evaluation).map((note) => (
              <p key={note} class="quiet-text">
                {note}
              </p>
            ))}
        </>
      )}
    </section>
  );
}

/** Omits the warnings about the FEN, because the page shows its own corrections of the position. */
function notesOn({ warnings, search }: EvaluateResponse): readonly string[] {
  const notes = warnings.filter(({ field }) => field !== "fen").map((warning) => wordsOfWarning(warning));
  const isWhole = search?.stopReason === StopReason.DEPTH || search?.stopReason === StopReason.NODES;
  // An equal search may differ, although neither search reaches a time limit.
  return isWhole && !search.deterministic
    ? [...notes, "Another search of this position may have another result."]
    : notes;
}

function Buttons() {
  const { analysis, request, game } = usePage();
  const { isOn, search, deeperTo } = analysis;
  const isFinished = game.at.value.position.terminal !== undefined;
  return (
    <div class="row search-buttons">
      <label class="choice" title="Analyse each position on the board">
        <input
          type="checkbox"
          role="switch"
          checked={isOn.value}
          aria-checked={isOn.value}
          onChange={({ currentTarget: { checked } }) => analysis.turn(checked)}
        />
        Analyse automatically
      </label>
      {isUnderWay(search.value) ? (
        <button type="button" onClick={analysis.stop}>
          Stop
        </button>
      ) : deeperTo.value ? (
        <button
          type="button"
          class="first"
          title={`Search on to depth ${deeperTo.value}`}
          onClick={analysis.deepen}
        >
          Deeper
        </button>
      ) : (
        search.value.kind !== "done" &&
        search.value.kind !== "refused" &&
        !isFinished && (
          <button type="button" class="first" disabled={request.isWaiting.value} onClick={analysis.ask}>
            Analyse
          </button>
        )
      )}
    </div>
  );
}
