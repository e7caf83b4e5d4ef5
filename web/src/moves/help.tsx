import { focusBoard } from "../board/focus-board.ts";
import { usePage } from "../page.ts";

const id = "keys";

export function showHelp(): void {
  (document.getElementById(id) as HTMLDialogElement | null)?.showModal();
}

export function Help() {
  const isReview = usePage().address.view.value === "review";
  const keys = [
    ["← →", "One move back or forward; so does the mouse wheel over the board"],
    ["Home End", "First or last position"],
    ["↑ ↓", "Previous or next variation, while the board or the moves have the focus"],
    isReview ? ["Shift + ← →", "Previous or next mistake"] : ["Space", "Play the best move"],
    ...(isReview ? [] : [["M", "Type a move"]]),
    ["F", "Flip board"],
    ["Ctrl + Z", "Undo the last move or change"],
    ["Ctrl + Y", "Redo it; so does Ctrl + Shift + Z"],
    ["Ctrl + V", "Open the copied position, game or link"],
    [
      "Right button",
      "Draw an arrow or a circle on the board; with the keyboard, Shift + Enter on two squares",
    ],
    ["Enter", "In a field: take its text, and give the keys back to the board"],
    ["?", "Show this list"],
  ];
  const squareKeys = [
    ["Tab", "Enter the board, and leave it"],
    ["← → ↑ ↓", "Another square"],
    ["Home End", "First or last square of the row; Page up and Page down: of the column"],
    ["Enter", "Pick up a piece, and put it down; so does Space"],
    ["Esc", "Let the piece go"],
    ["Shift + Enter", "On two squares: draw an arrow. On the same square: a circle"],
  ];
  return (
    <dialog id={id} onClose={onClose} class="keys panel" aria-labelledby="keys-title">
      <div class="keys-title row">
        <h2 id="keys-title">Keys</h2>
        <form method="dialog">
          <button type="submit" class="first">
            Close
          </button>
        </form>
      </div>
      <div class="keys-lists">
        <Pairs keys={keys} />
        <div>
          <h3>On a square of the board</h3>
          <Pairs keys={squareKeys} />
        </div>
      </div>
    </dialog>
  );
}

function Pairs({ keys }: { readonly keys: readonly (readonly string[])[] }) {
  return (
    <dl class="pairs">
      {keys.map(([key, use]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{use}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The browser gives the focus back only if an element had the focus before. */
function onClose(): void {
  if (document.activeElement === document.body) {
    focusBoard();
  }
}
