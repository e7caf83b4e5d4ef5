import { useSignal } from "@preact/signals";
import { moveFromText } from "../../../src/chess/moves.ts";
import { usePage } from "../page.ts";
import { movesOfText } from "./moves-of-text.ts";

interface RefusedMove {
  readonly text: string;
  readonly fen: string;
  /** Legal promotions that the user may have meant, such as `e8=Q`. */
  readonly meant: readonly string[];
}

export function MoveField() {
  const { game } = usePage();
  const text = useSignal("");
  const refused = useSignal<RefusedMove | undefined>(undefined);
  const violation = refused.value?.fen === game.at.value.position.fen ? refused.value : undefined;
  const play = (moves: readonly string[]) => {
    const { played } = game.play(moves);
    // Illegal moves stay in the field for correction.
    const [move, ...others] = moves.slice(played);
    const { board, fen } = game.at.peek().position;
    const meant = ["Q", "N", "R", "B"].map((piece) => `${move}=${piece}`);
    refused.value =
      move === undefined
        ? undefined
        : { text: move, fen, meant: meant.filter((promotion) => moveFromText(board, promotion)) };
    text.value = move === undefined ? "" : [move, ...others].join(" ");
  };
  return (
    <form
      class="move-field"
      onSubmit={(event) => {
        event.preventDefault();
        play(movesOfText(text.value));
      }}
    >
      <label for="move">Move</label>
      <input
        id="move"
        type="text"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        placeholder="Nf3 or g1f3"
        value={text.value}
        aria-invalid={violation !== undefined}
        aria-describedby="move-fault"
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          refused.value = undefined;
        }}
      />
      <button type="submit">Play</button>
      <div id="move-fault" class="field-fault row" role="alert">
        {violation &&
          (violation.meant.length > 0
            ? `${violation.text} promotes. To what?`
            : `“${violation.text}” is not a legal move here.`)}
        {violation?.meant.map((move) => (
          <button key={move} type="button" onClick={() => play([move])}>
            {move}
          </button>
        ))}
      </div>
    </form>
  );
}
