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
    isReview ? ["Shift + ← →", "Previous or next mistake"] : ["Space", "Play the best move"],
    ["F", "Flip board"],
    ["Ctrl + Z", "Undo the last move or change"],
    ["?", "Show this list"],
  ];
  return (
    <dialog id={id} class="keys panel" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
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
      <form method="dialog">
        <button type="submit" class="first">
          Close
        </button>
      </form>
    </dialog>
  );
}
