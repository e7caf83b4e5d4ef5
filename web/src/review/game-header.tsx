import { useEffect, useRef } from "preact/hooks";
import { resultOf } from "../game/game.ts";
import { known } from "../game/tags.ts";
import { usePage } from "../page.ts";
import { wordsOfWarning } from "../parts/plain-words.ts";

export function GameHeader() {
  const { game, review } = usePage();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The focused button is now hidden. Move the focus to the title.
    if (document.activeElement === null || !document.activeElement.checkVisibility()) {
      title.current?.focus({ preventScroll: true });
    }
  }, [game.reviewed.value]);
  const { tags, start } = game.game.value;
  const result = resultOf(game.game.value);
  const state = review.progress.value;
  const done = state.kind === "done" ? state.review : undefined;
  const { opening, warnings = [] } = done ?? {};
  const about = ["Event", "Site", "Date", "TimeControl"].flatMap((name) => known(tags, name) ?? []);
  return (
    <header class="review-header">
      <h3 ref={title} class="review-players row" tabIndex={-1}>
        <Player tags={tags} name="White" />
        <span>{result === "*" ? "–" : result.replaceAll("1/2", "½").replace("-", "–")}</span>
        <Player tags={tags} name="Black" />
      </h3>
      {opening && (
        <p>
          {opening.eco} {opening.name}
        </p>
      )}
      {about.length > 0 && <p class="quiet-text">{about.join(" · ")}</p>}
      {warnings.map((warning) => (
        <p key={warning.message} class="quiet-text">
          {wordsOfWarning(warning, start.position.fen)}
        </p>
      ))}
      {tags.size > 0 && (
        <details>
          <summary>Game details</summary>
          <dl class="pairs">
            {[...tags].map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </header>
  );
}

interface PlayerProps {
  readonly tags: ReadonlyMap<string, string>;
  readonly name: "White" | "Black";
}

function Player({ tags, name }: PlayerProps) {
  const rating = known(tags, `${name}Elo`);
  const title = known(tags, `${name}Title`);
  return (
    <span class="review-player">
      {title && <span class="quiet-text">{title} </span>}
      {known(tags, name) ?? name}
      {rating && <span class="quiet-text figures"> {rating}</span>}
    </span>
  );
}
