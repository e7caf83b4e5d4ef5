import { texts } from "../texts.ts";

const words = texts.moves;
const id = "keys";

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
  const keys = words.keys.filter(({ only }) => only === undefined || (only === "review") === isReview);
  return (
    <dialog id={id} class="keys" aria-labelledby="keys-title">
      <h2 id="keys-title">{words.names.help}</h2>
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
          {words.close}
        </button>
      </form>
    </dialog>
  );
}
