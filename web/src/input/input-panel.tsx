import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { focusBoard } from "../board/focus-board.ts";
import { usePage } from "../page.ts";
import { GameChooser } from "./game-chooser.tsx";
import { ViolationInText } from "./text-violation.tsx";
import "./input-panel.css";

export const textFieldId = "game-text";

interface InputPanelProps {
  readonly title: string;
  /** The label of the button that opens the text. */
  readonly action: string;
  /** True if the panel cannot be closed, because the view shows nothing else. */
  readonly isAlone?: boolean;
  readonly children?: ComponentChildren;
}

/** The place of both views to paste or open a game or a position. */
export function InputPanel({ title, action, isAlone = false, children }: InputPanelProps) {
  const { isOpen } = usePage().input;
  return (
    <>
      <details
        class="input-panel panel"
        open={isAlone || isOpen.value}
        onToggle={({ currentTarget: { open } }) => {
          isOpen.value = open && !isAlone;
        }}
      >
        <summary>{title}</summary>
        <div class="input-parts">
          <GameField action={action} />
          {children}
        </div>
      </details>
      <GameChooser />
    </>
  );
}

function GameField({ action }: Pick<InputPanelProps, "action">) {
  const { text, violation, edit, take, takeFile } = usePage().input;
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
  const send = async () => {
    await take(text.value, "This text");
    // The panel is closed, and has hidden the focused button.
    requestAnimationFrame(() => document.activeElement?.checkVisibility() || focusBoard());
  };
  return (
    <form
      class="game-field stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label for={textFieldId}>A game in PGN, or a position in FEN</label>
      <textarea
        ref={field}
        id={textFieldId}
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
          <p class="quiet-text">Paste it here, drop a file anywhere on the page, or open one.</p>
        )}
      </div>
      <div class="row">
        <button type="submit" class="first" disabled={text.value.trim() === ""}>
          {action}
        </button>
        <button type="button" onClick={() => file.current?.click()}>
          Open a file
        </button>
        <input
          ref={file}
          hidden
          type="file"
          accept=".pgn,.txt,.fen,.epd,application/x-chess-pgn,text/plain"
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
