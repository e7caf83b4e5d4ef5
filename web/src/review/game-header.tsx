import { useEffect, useRef } from "preact/hooks";
import { texts } from "../texts.ts";
import { known } from "./found-games.ts";
import type { PlayedGame } from "./played-game.ts";
import { asked, progress } from "./run-review.ts";

const words = texts.review;

/** The players, the result, the opening, and a summary of the review in one sentence. */
export function GameHeader({ game: { tags } }: { readonly game: PlayedGame }) {
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The button that started the review has been folded away.
    if (document.activeElement === null || !document.activeElement.checkVisibility()) {
      title.current?.focus({ preventScroll: true });
    }
  }, [asked.value]);
  const state = progress.value;
  const review = state.kind === "done" ? state.review : undefined;
  const about = ["Event", "Site", "Date", "TimeControl"].flatMap((name) => known(tags, name) ?? []);
  const opening = review?.opening;
  return (
    <header class="review-header">
      <h3 ref={title} class="review-players" tabIndex={-1}>
        <Player tags={tags} name="White" fallback={words.white} />
        <span class="review-result figures">{resultOf(tags)}</span>
        <Player tags={tags} name="Black" fallback={words.black} />
      </h3>
      {about.length > 0 && <p class="quiet-text">{about.join(" · ")}</p>}
      <p class="review-opening">{opening ? words.opening(opening.eco, opening.name) : "\u00a0"}</p>
      <p class="review-summary">{review?.summary ?? "\u00a0"}</p>
      {review?.warnings.map(({ code, message }) => (
        <p key={code} class="quiet-text">
          {message}
        </p>
      ))}
      {tags.size > 0 && (
        <details>
          <summary>{words.tags}</summary>
          <dl class="review-tags">
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
  readonly fallback: string;
}

function Player({ tags, name, fallback }: PlayerProps) {
  const rating = known(tags, `${name}Elo`);
  const title = known(tags, `${name}Title`);
  return (
    <span class={`review-player review-player-${name.toLowerCase()}`}>
      {title && <span class="quiet-text">{title} </span>}
      {known(tags, name) ?? fallback}
      {rating && <span class="quiet-text figures"> {rating}</span>}
    </span>
  );
}

function resultOf(tags: ReadonlyMap<string, string>): string {
  const result = known(tags, "Result") ?? "*";
  return result === "*" ? "–" : result.replaceAll("1/2", "½").replace("-", "–");
}
