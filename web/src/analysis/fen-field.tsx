import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { focusBoard } from "../board/focus-board.ts";
import type { Refused } from "../game/create-game.ts";
import { usePage } from "../page.ts";
import { selectAtClick } from "../parts/select-at-click.ts";
import { readPasted } from "../pasted-text.ts";
import "./fields.css";

const fieldId = "fen";

export function FenField() {
  const { game, input } = usePage();
  const field = useRef<HTMLInputElement>(null);
  // The edited text. Undefined while the field shows the position on the board.
  const draft = useSignal<string | undefined>(undefined);
  const refused = game.refused.value?.kind === "fen" ? game.refused.value : undefined;
  const { fen } = game.at.value.position;
  useEffect(() => {
    draft.value = refused?.text;
    if (refused && field.current) {
      const { from, to } = wrongPart(refused);
      // Put the new text into the field before its wrong part is selected.
      field.current.value = refused.text;
      field.current.setSelectionRange(from, to);
    }
  }, [refused, fen]);

  const set = () => {
    const text = draft.value ?? fen;
    if (["pgn", "link", "key"].includes(readPasted(text)?.kind ?? "")) {
      draft.value = undefined;
      void input.take(text);
    } else if (game.takeFen(text, [], "field").kind === "game") {
      draft.value = undefined;
    }
  };
  return (
    <form
      class="fen-field"
      onSubmit={(event) => {
        event.preventDefault();
        set();
      }}
    >
      <label for={fieldId}>FEN</label>
      <input
        ref={field}
        id={fieldId}
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={draft.value ?? fen}
        aria-invalid={refused !== undefined}
        aria-describedby={refused && violationId}
        {...selectAtClick}
        onInput={({ currentTarget }) => {
          draft.value = currentTarget.value;
        }}
        onKeyDown={({ key }) => {
          if (key === "Escape") {
            draft.value = undefined;
            game.refused.value = undefined;
          }
        }}
      />
      <button type="submit">Set</button>
      {refused?.from === "field" && <FenViolation refused={refused} />}
    </form>
  );
}

/** Shows the error of a pasted FEN or of a link. {@link FenField} shows the error of a typed FEN. */
export function PositionViolation() {
  const refused = usePage().game.refused.value;
  switch (refused?.kind) {
    case "fen":
      return refused.from === "field" ? null : <FenViolation refused={refused} />;
    case "moves":
      return (
        <div class="fen-fault problem" role="alert">
          <p>The moves of the link end here: {refused.violations[0]?.message}</p>
          <CloseButton />
        </div>
      );
    default:
      return null;
  }
}

const violationId = "fen-fault";

function FenViolation({ refused }: { readonly refused: Refused }) {
  const { game } = usePage();
  const box = useRef<HTMLDivElement>(null);
  const { text, violations, suggestedFen } = refused;
  const { from, to } = wrongPart(refused);
  const title =
    refused.from === "link"
      ? "The link cannot be read as a position; here is the start position instead."
      : "This FEN cannot be read";
  useEffect(() => box.current?.scrollIntoView({ block: "nearest" }), [refused]);
  const focusField = () => document.getElementById(fieldId)?.focus();
  return (
    <div ref={box} id={violationId} class="fen-fault problem" role="alert">
      <h3>{title}</h3>
      <p>
        <code>
          {text.slice(0, from)}
          <mark>{text.slice(from, to) || " "}</mark>
          {text.slice(to)}
        </code>
      </p>
      <ul>
        {violations.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
      <div class="row">
        {suggestedFen && (
          <button
            type="button"
            class="first"
            onClick={() => {
              game.takeFen(suggestedFen);
              focusField();
            }}
          >
            Use {suggestedFen}
          </button>
        )}
        {refused.from !== "field" && (
          <button type="button" onClick={focusField}>
            Correct it
          </button>
        )}
        <CloseButton />
      </div>
    </div>
  );
}

function CloseButton() {
  const { game } = usePage();
  const close = () => {
    game.refused.value = undefined;
    focusBoard();
  };
  return (
    <button type="button" onClick={close}>
      Close
    </button>
  );
}

/** Returns the range of the error in the text, or the complete text if the range is unknown. `to` is exclusive. */
function wrongPart({ text, violations }: Refused): { readonly from: number; readonly to: number } {
  const parts = violations.map((violation) =>
    "field" in violation ? violation : { offset: undefined, token: undefined },
  );
  const { offset, token = "" } = parts.find((part) => part.token) ?? parts[0] ?? {};
  return offset === undefined ? { from: 0, to: text.length } : { from: offset, to: offset + token.length };
}
