import { useLayoutEffect } from "preact/hooks";
import { usePage } from "../page.ts";

const id = "display";

export function showDisplay(): void {
  (document.getElementById(id) as HTMLDialogElement | null)?.showModal();
}

const switches = [
  ["arrows", "Arrows of the best moves"],
  ["bar", "Evaluation bar"],
  ["lines", "Lines of the engine"],
] as const;

const boards = [
  [true, "Brown"],
  [false, "Blue"],
] as const;

export function Display() {
  const { display } = usePage();
  const { brown } = display;
  useLayoutEffect(() => {
    document.documentElement.dataset.board = brown.isOn.value ? "brown" : "blue";
  }, [brown.isOn.value]);
  return (
    <dialog id={id} class="keys panel" aria-labelledby="display-title">
      <form method="dialog" class="stack">
        <h2 id="display-title">Display</h2>
        {switches.map(([name, title]) => (
          <label key={name} class="choice">
            <input
              type="checkbox"
              role="switch"
              checked={display[name].isOn.value}
              aria-checked={display[name].isOn.value}
              onChange={({ currentTarget: { checked } }) => display[name].turn(checked)}
            />
            {title}
          </label>
        ))}
        <fieldset class="row">
          <legend>Board</legend>
          {boards.map(([isBrown, title]) => (
            <label key={title} class="choice">
              <input
                type="radio"
                name="board"
                checked={brown.isOn.value === isBrown}
                onChange={() => brown.turn(isBrown)}
              />
              {title}
            </label>
          ))}
        </fieldset>
        <button type="submit" class="first">
          Close
        </button>
      </form>
    </dialog>
  );
}
