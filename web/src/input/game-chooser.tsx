import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { known } from "../game/tags.ts";
import { usePage } from "../page.ts";
import { type FoundGame, gamesWith } from "./found-games.ts";

/** The list shows this number of games, and more after a click. */
const shownAtOnce = 50;

/** A search field is shown if there are more games than this number. */
const unfilteredMax = 8;

export function GameChooser() {
  const { found, isListOpen, choose } = usePage().input;
  const filterId = useId();
  const filter = useSignal("");
  const title = useRef<HTMLElement>(null);
  const games = found.value;
  const [shown, setShown] = useState(shownAtOnce);
  useEffect(() => {
    setShown(shownAtOnce);
    if (isListOpen.peek()) {
      title.current?.focus();
    }
  }, [games]);
  if (games.length === 0) {
    return null;
  }
  const matching = gamesWith(filter.value, games);
  return (
    <details
      class="game-chooser panel"
      open={isListOpen.value}
      onToggle={({ currentTarget: { open } }) => {
        isListOpen.value = open;
      }}
    >
      <summary ref={title}>{games.length} games in this text</summary>
      {games.length > unfilteredMax && (
        <div class="field">
          <label for={filterId}>Find by number, name, event or date</label>
          <input
            id={filterId}
            type="search"
            value={filter.value}
            onInput={({ currentTarget }) => {
              filter.value = currentTarget.value;
            }}
          />
        </div>
      )}
      <ul class="game-list">
        {matching.slice(0, shown).map((game) => (
          <li key={game.number}>
            <GameButton game={game} onChoose={() => choose(game)} />
          </li>
        ))}
      </ul>
      {matching.length === 0 && <p>None of them.</p>}
      {matching.length > shown && (
        <button type="button" onClick={() => setShown(shown + shownAtOnce)}>
          Show more ({matching.length - shown})
        </button>
      )}
    </details>
  );
}

function GameButton({ game, onChoose }: { readonly game: FoundGame; onChoose(): void }) {
  const { text } = usePage().input;
  const { number, tags } = game;
  const about = ["Event", "Date", "Result"].flatMap((name) => known(tags, name) ?? []);
  return (
    <button type="button" class="quiet" aria-pressed={game.text === text.value} onClick={onChoose}>
      <span class="figures quiet-text">Game {number}</span>
      <span>
        {known(tags, "White") ?? "White"} – {known(tags, "Black") ?? "Black"}
      </span>
      <span class="quiet-text">{about.join(", ")}</span>
    </button>
  );
}
