import { useEffect } from "preact/hooks";
import { BoardView } from "../board/board-view.tsx";
import { EvaluationBar } from "../board/evaluation-bar.tsx";
import { known } from "../game/tags.ts";
import { InputPanel } from "../input/input-panel.tsx";
import { OpenButton } from "../input/open-button.tsx";
import { EncodingNote } from "../moves/encoding-note.tsx";
import { MoveList } from "../moves/move-list.tsx";
import { MoveTools } from "../moves/move-tools.tsx";
import { Share } from "../moves/share.tsx";
import { Steps } from "../moves/steps.tsx";
import { usePage } from "../page.ts";
import { Icon } from "../parts/icon.tsx";
import { plainWords } from "../parts/plain-words.ts";
import { RequestForm } from "../request/request-form.tsx";
import { SettingsButton, SettingsPanel } from "../request/settings-panel.tsx";
import { FenField, PositionViolation } from "./fen-field.tsx";
import { announceMoves, announceScores } from "./heard.ts";
import { MoveField } from "./move-field.tsx";
import { SearchPanel } from "./search-panel.tsx";
import { ShownBoard } from "./shown-board.tsx";
import "./analysis.css";

export function Analysis() {
  const { game, analysis, address, display } = usePage();
  const { percent, text } = analysis.score.value;
  const renew = () => void game.takeFen("startpos");
  useEffect(() => analysis.follow(), []);
  useEffect(() => announceMoves(game), []);
  useEffect(() => announceScores(analysis), []);
  return (
    <section aria-labelledby="analysis-title">
      <h2 id="analysis-title" class="heard-only">
        Analysis
      </h2>
      <BoardView
        bar={
          display.bar.isOn.value && (
            <EvaluationBar percent={percent} score={text} orientation={game.orientation.value} />
          )
        }
        board={<ShownBoard />}
        tools={
          <>
            <Steps />
            <button
              type="button"
              class="quiet"
              aria-label="New analysis"
              title="New analysis"
              onClick={renew}
            >
              <Icon name="add" /> New
            </button>
            <OpenButton />
            <button type="button" class="quiet" onClick={() => address.show("set-up")}>
              <Icon name="setUp" /> Set up
            </button>
            <Share />
            <SettingsButton />
          </>
        }
      >
        <SettingsPanel>
          <RequestForm />
        </SettingsPanel>
        <PositionViolation />
        <SearchPanel />
        <div class="moves-panel panel stack">
          <EncodingNote />
          <Corrections />
          <Opening />
          <MoveList />
          <MoveTools />
          <div class="typed-fields">
            <MoveField />
            <FenField />
          </div>
        </div>
        <InputPanel title="Open a game or a position" action="Open" />
      </BoardView>
    </section>
  );
}

/** Omits the warning about a removed en passant square, because this correction does not change the game. */
function Corrections() {
  const { game, warnings } = usePage().game;
  const corrections = warnings.value.filter(({ code }) => code !== "ep_square_removed");
  return corrections.length === 0 ? null : (
    <ul class="corrections notice">
      {corrections.map(({ message }) => (
        <li key={message}>{plainWords(message, game.value.start.position.fen)}</li>
      ))}
    </ul>
  );
}

function Opening() {
  const { game, analysis } = usePage();
  const opening = analysis.opening.value;
  const { start, tags } = game.game.value;
  const players = [known(tags, "White"), known(tags, "Black")];
  if (start.children.length === 0) {
    return <p class="quiet-text">Move a piece, or paste a FEN or a PGN anywhere on the page.</p>;
  }
  return (
    <p class="opening">
      {players.some((name) => name) && <b>{players.map((name) => name ?? "?").join(" – ")} </b>}
      <span class="quiet-text">{opening?.eco}</span>{" "}
      {opening?.name ?? (game.at.value.ply === 0 && <span class="quiet-text">Start of the game</span>)}
    </p>
  );
}
