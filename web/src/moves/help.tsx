const id = "keys";

interface Key {
  readonly key: string;
  readonly use: string;
  /** The only view that the key has a use in. */
  readonly only?: "analysis" | "review";
}

const all: readonly Key[] = [
  { key: "← →", use: "One move back or forward; so does the mouse wheel over the board" },
  { key: "Home End", use: "First or last position" },
  { key: "Shift + ← →", use: "Previous or next mistake", only: "review" },
  { key: "Space", use: "Play the best move", only: "analysis" },
  { key: "F", use: "Flip board" },
  { key: "Ctrl + Z", use: "Undo the last move or change" },
  { key: "?", use: "Show this list" },
];

/** Opens the list of keys. */
export function showHelp(): void {
  (document.getElementById(id) as HTMLDialogElement | null)?.showModal();
}

interface HelpProps {
  /** The view has mistakes to go to, and no best move to play. */
  readonly isReview: boolean;
}

/** The keys of the page, in a dialog that {@link showHelp} opens. */
export function Help({ isReview }: HelpProps) {
  const keys = all.filter(({ only }) => only === undefined || (only === "review") === isReview);
  return (
    <dialog id={id} class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {keys.map(({ key, use }) => (
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
