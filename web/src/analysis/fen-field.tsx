import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { PositionFault } from "../../../src/chess/position.ts";
import { kindOfText } from "../kind-of-text.ts";
import { announce } from "../parts/live-region.tsx";
import { take } from "../pasted.ts";
import { texts } from "../texts.ts";
import { faultPlace } from "./fault-place.ts";
import { position, reading, refusedFen, refusedLink, takeFen } from "./state.ts";
import "./fields.css";

const words = texts.analysis;

/** The position as a FEN, to be read, changed and copied. What is wrong with one is shown where it is wrong. */
export function FenField() {
  const field = useRef<HTMLInputElement>(null);
  // The text in the field while it is edited; undefined while the field shows the board.
  const draft = useSignal<string | undefined>(undefined);
  const refused = refusedFen.value ?? refusedLink.value;
  const { fen } = position.value;
  useEffect(() => {
    draft.value = refused?.text;
    const [first] = refused?.faults ?? [];
    if (refused && first) {
      announce(`${words.cannotRead}. ${first.message}`);
      const { from, to } = faultPlace(refused.text, first.message);
      field.current?.focus();
      field.current?.setSelectionRange(from, to);
    }
  }, [refused]);
  useEffect(() => {
    // A change elsewhere on the page discards the error in this field.
    draft.value = refusedLink.peek()?.text;
    refusedFen.value = undefined;
  }, [fen]);

  const set = () => {
    const text = draft.value ?? fen;
    if (kindOfText(text) === "pgn") {
      draft.value = undefined;
      take(text);
    } else if (takeFen(text).kind === "play") {
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
      <label for="fen">{words.fen}</label>
      <input
        ref={field}
        id="fen"
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={draft.value ?? fen}
        aria-invalid={refused !== undefined}
        aria-describedby={refused ? "fen-fault" : undefined}
        onInput={({ currentTarget }) => {
          draft.value = currentTarget.value;
        }}
        onKeyDown={({ key }) => {
          if (key === "Escape") {
            draft.value = undefined;
            refusedFen.value = undefined;
          }
        }}
      />
      <button type="submit">{words.setFen}</button>
      {refused && (
        <Fault
          text={refused.text}
          faults={refused.faults}
          suggestedFen={refused.suggestedFen}
          onUse={(suggested) => {
            takeFen(suggested);
            field.current?.focus();
          }}
        />
      )}
    </form>
  );
}

interface FaultProps {
  readonly text: string;
  readonly faults: readonly PositionFault[];
  readonly suggestedFen: string | undefined;
  onUse(suggestedFen: string): void;
}

function Fault({ text, faults, suggestedFen, onUse }: FaultProps) {
  const [first] = faults;
  // If fields are missing, an error in another field says more.
  const told = faults.find(({ message }) => !message.endsWith("are required.")) ?? first;
  const { from, to } = faultPlace(text, told?.message ?? "");
  return (
    <div id="fen-fault" class="fen-fault">
      <p class="fen-fault-title">{words.cannotRead}</p>
      <p class="fen-fault-text">
        <code>
          {text.slice(0, from)}
          <mark>{text.slice(from, to) || " "}</mark>
          {text.slice(to)}
        </code>
      </p>
      <ul>
        {faults.map(({ message }) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
      {suggestedFen && (
        <button type="button" onClick={() => onUse(suggestedFen)}>
          {words.useInstead(suggestedFen)}
        </button>
      )}
    </div>
  );
}

/** The error in a link, if it could not be read. */
export function LinkFault() {
  const read = reading.value;
  if (read.kind === "faults") {
    return (
      <p class="link-fault" role="alert">
        {words.cannotReadLink}
      </p>
    );
  }
  const { refused } = read.play;
  return refused ? (
    <p class="link-fault" role="alert">
      {words.movesCut(refused.message)}
    </p>
  ) : null;
}
