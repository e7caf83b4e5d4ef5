import { useSignal } from "@preact/signals";
import { texts } from "../texts.ts";
import { playMoves, ply } from "./state.ts";

const words = texts.analysis;

/** A move, or several, as text: SAN or UCI. */
export function MoveField() {
  const text = useSignal("");
  const refused = useSignal<string | undefined>(undefined);
  const playText = () => {
    // Numbers of moves are what people copy along.
    const moves = text.value.split(/\s+|\d+\.+/).filter((move) => move !== "");
    if (moves.length === 0) {
      return;
    }
    const had = ply.peek();
    const { refused: fault } = playMoves(moves);
    // Legal moves are played on the board; the rest stays in the field, to be corrected.
    const rest = fault ? moves.slice(ply.peek() - had) : [];
    refused.value = rest[0] && words.noSuchMove(rest[0]);
    text.value = rest.join(" ");
  };
  return (
    <form
      class="move-field"
      onSubmit={(event) => {
        event.preventDefault();
        playText();
      }}
    >
      <label for="move">{words.move}</label>
      <input
        id="move"
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder={words.moveHint}
        value={text.value}
        aria-invalid={refused.value !== undefined}
        aria-describedby="move-fault"
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          refused.value = undefined;
        }}
      />
      <button type="submit">{words.play}</button>
      <p id="move-fault" class="field-fault" role="alert">
        {refused.value}
      </p>
    </form>
  );
}
