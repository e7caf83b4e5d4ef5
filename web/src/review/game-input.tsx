import { useEffect, useId, useRef } from "preact/hooks";
import { usePage } from "../page.ts";
import { announce } from "../parts/live-region.tsx";
import { RequestForm } from "../request/request-form.tsx";
import { linesMax } from "./create-review.ts";
import { GameChooser } from "./game-chooser.tsx";
import { ViolationInText } from "./text-violation.tsx";
import "./game-input.css";

export function GameInput({ isOpen }: { readonly isOpen: boolean }) {
  const { refusal, violation } = usePage().review.input;
  return (
    <>
      <details
        class="game-input panel"
        open={isOpen || refusal.value !== undefined || violation.value !== undefined}
      >
        <summary>{isOpen ? "A game to review" : "Another game"}</summary>
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

function GameField() {
  const { text, refusal, violation, edit, takeText, takeFile } = usePage().review.input;
  const id = useId();
  const noteId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const wrong = violation.value;
  useEffect(() => {
    const { current } = field;
    if (wrong && current) {
      current.focus();
      current.setSelectionRange(wrong.start, wrong.end);
      const lineHeight = Number.parseFloat(getComputedStyle(current).lineHeight);
      current.scrollTop = (wrong.line - 3) * lineHeight;
    }
  }, [wrong]);
  useEffect(() => {
    if (refusal.value !== undefined) {
      announce(refusal.value);
      field.current?.scrollIntoView({ block: "nearest" });
    }
  }, [refusal.value]);
  return (
    <form
      class="game-field stack"
      onSubmit={(event) => {
        event.preventDefault();
        void takeText(text.value);
      }}
    >
      <label for={id}>A game in PGN</label>
      <textarea
        ref={field}
        id={id}
        rows={wrong ? 8 : 5}
        spellcheck={false}
        autocomplete="off"
        value={text.value}
        aria-describedby={noteId}
        aria-invalid={wrong !== undefined}
        onInput={({ currentTarget }) => edit(currentTarget.value)}
      />
      <div id={noteId}>
        {wrong ? (
          <ViolationInText text={text.value} violation={wrong} />
        ) : (
          <p class={refusal.value === undefined ? "quiet-text" : "game-refusal"}>
            {refusal.value ?? "Paste it here, drop a file anywhere on the page, or open one."}
          </p>
        )}
      </div>
      <div class="row">
        <button type="submit" class="first" disabled={text.value.trim() === ""}>
          Review the game
        </button>
        <button type="button" onClick={() => file.current?.click()}>
          Open a file
        </button>
        <input
          ref={file}
          hidden
          type="file"
          accept=".pgn,.txt,application/x-chess-pgn,text/plain"
          aria-label="Open a file"
          onChange={({ currentTarget }) => {
            const [chosen] = currentTarget.files ?? [];
            if (chosen) {
              void takeFile(chosen);
            }
            currentTarget.value = "";
          }}
        />
      </div>
    </form>
  );
}

function LinesField() {
  const { settings, set } = usePage().request;
  const id = useId();
  return (
    <div class="field">
      <label for={id}>Alternatives per move</label>
      <select
        id={id}
        value={Math.min(Number(settings.value.multipv ?? 1), linesMax)}
        onChange={({ currentTarget: { value } }) => set("multipv", value === "1" ? "" : value)}
      >
        {[1, 2, linesMax].map((count) => (
          <option key={count} value={count}>
            {count - 1}
          </option>
        ))}
      </select>
    </div>
  );
}
