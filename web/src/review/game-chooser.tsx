import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { texts } from "../texts.ts";
import { type FoundGame, gamesWith, known } from "./found-games.ts";
import { chooseGame, found, text } from "./game-text.ts";

const words = texts.review;

/** More are found by their names. */
const shownMax = 50;

/** More than can be seen at once are looked for. */
const unfilteredMax = 8;

/** The games of a text that has several; nothing of one that has not. */
export function GameChooser() {
  const filterId = useId();
  const filter = useSignal("");
  const title = useRef<HTMLElement>(null);
  const games = found.value;
  const [isOpen, setIsOpen] = useState(true);
  useEffect(() => {
    setIsOpen(true);
    title.current?.focus();
  }, [games]);
  if (games.length === 0) {
    return null;
  }
  const matching = gamesWith(filter.value, games);
  return (
    <details
      class="game-chooser panel"
      open={isOpen}
      onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
    >
      <summary ref={title}>{words.games(games.length)}</summary>
      {games.length > unfilteredMax && (
        <div class="field">
          <label for={filterId}>{words.gamesFilter}</label>
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
        {matching.slice(0, shownMax).map((game) => (
          <li key={game.number}>
            <GameButton
              game={game}
              onChoose={() => {
                setIsOpen(false);
                chooseGame(game);
              }}
            />
          </li>
        ))}
      </ul>
      {matching.length === 0 && <p>{words.gamesNone}</p>}
      {matching.length > shownMax && <p class="quiet-text">{words.gamesMore(matching.length - shownMax)}</p>}
    </details>
  );
}

function GameButton({ game, onChoose }: { readonly game: FoundGame; onChoose(): void }) {
  const { number, tags } = game;
  const about = ["Event", "Date", "Result"].flatMap((name) => known(tags, name) ?? []);
  return (
    <button type="button" class="quiet" aria-pressed={game.text === text.value} onClick={onChoose}>
      <span class="figures quiet-text">{words.gameNumber(number)}</span>
      <span>{words.players(known(tags, "White") ?? words.white, known(tags, "Black") ?? words.black)}</span>
      <span class="quiet-text">{about.join(", ")}</span>
    </button>
  );
}
