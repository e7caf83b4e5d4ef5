import { useEffect, useId, useRef } from "preact/hooks";
import { announce } from "../parts/live-region.tsx";
import { RequestForm } from "../request/request-form.tsx";
import { texts } from "../texts.ts";
import { GameChooser } from "./game-chooser.tsx";
import { chooseFile, fileMaxMegabytes, lines, refusal, takeText, text, textFault } from "./game-text.ts";
import { isBoardShown } from "./looked-at.ts";
import { FaultInText } from "./text-fault.tsx";
import "./game-input.css";

const words = texts.review;

/** The input for a game (a text field, a file, or one of the games of a file), and the settings of its review. */
export function GameInput() {
  return (
    <>
      <details class="game-input panel" open={!isBoardShown.value || refusal.value !== undefined}>
        <summary>{isBoardShown.value ? words.another : words.begin}</summary>
        <div class="game-input-parts">
          <GameField />
          <div class="game-settings">
            <LinesField />
            <RequestForm only={["depth", "engine", "nodes", "path"]} />
          </div>
        </div>
      </details>
      <GameChooser />
    </>
  );
}

const refusals = {
  large: words.fileTooLarge(fileMaxMegabytes),
  unreadable: words.fileUnreadable,
  empty: words.fileWithoutGame,
};

function GameField() {
  const id = useId();
  const noteId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const fault = textFault.value;
  useEffect(() => {
    if (fault && field.current) {
      const { current } = field;
      current.focus({ preventScroll: true });
      current.setSelectionRange(fault.start, fault.end);
      const lineHeight = Number.parseFloat(getComputedStyle(current).lineHeight);
      current.scrollTop = (fault.line - 3) * lineHeight;
    }
  }, [fault]);
  useEffect(() => {
    if (refusal.value) {
      announce(refusals[refusal.value]);
    }
  }, [refusal.value]);
  return (
    <form
      class="game-field"
      onSubmit={(event) => {
        event.preventDefault();
        void takeText(text.value);
      }}
    >
      <label for={id}>{words.field}</label>
      <textarea
        ref={field}
        id={id}
        rows={fault ? 8 : 5}
        spellcheck={false}
        autocomplete="off"
        value={text.value}
        aria-describedby={noteId}
        aria-invalid={fault !== undefined}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
        }}
      />
      <div id={noteId}>
        {fault ? (
          <FaultInText text={text.value} fault={fault} />
        ) : (
          <p class={refusal.value ? "game-refusal" : "quiet-text"}>
            {refusal.value ? refusals[refusal.value] : words.fieldHint}
          </p>
        )}
      </div>
      <div class="row">
        <button type="submit" class="first" disabled={text.value.trim() === ""}>
          {words.start}
        </button>
        <button type="button" onClick={() => file.current?.click()}>
          {words.openFile}
        </button>
        <input
          ref={file}
          hidden
          type="file"
          accept=".pgn,.txt,application/x-chess-pgn,text/plain"
          aria-label={words.openFile}
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? [];
            if (chosen) {
              void chooseFile(chosen);
            }
            currentTarget.value = "";
          }}
        />
      </div>
    </form>
  );
}

function LinesField() {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{words.lines}</label>
      <select
        id={id}
        value={lines.value}
        onChange={({ currentTarget }) => {
          lines.value = Number(currentTarget.value);
        }}
      >
        {[1, 2, 3].map((count) => (
          <option key={count} value={count}>
            {count}
          </option>
        ))}
      </select>
      <p class="field-hint">{words.linesHint}</p>
    </div>
  );
}
