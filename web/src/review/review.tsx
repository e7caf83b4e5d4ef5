import { useEffect } from "preact/hooks";
import { pasted } from "../pasted.ts";
import { texts } from "../texts.ts";
import { GameInput } from "./game-input.tsx";
import { chooseFile, takeText } from "./game-text.ts";
import { goByKey, shownGame } from "./looked-at.ts";
import { ReviewedGame } from "./reviewed-game.tsx";
import "./review.css";

/** A game, reviewed ply by ply. */
export function Review() {
  useEffect(() => {
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    const given = pasted.value;
    if (given?.kind === "pgn") {
      pasted.value = undefined;
      void takeText(given.text);
    } else if (given?.kind === "file") {
      pasted.value = undefined;
      void chooseFile(given.file);
    }
  }, [pasted.value]);
  return (
    <section class="review stack" aria-labelledby="review-title">
      <h2 id="review-title" class="heard-only">
        {texts.review.title}
      </h2>
      <GameInput />
      {shownGame.value && <ReviewedGame game={shownGame.value} />}
    </section>
  );
}

/** Elements that use the arrow keys themselves. */
const withOwnKeys =
  "input, textarea, select, [contenteditable], [role=slider], [role=grid], [role=radio], summary";

function onKey(event: KeyboardEvent): void {
  const isOwn = event.target instanceof Element && event.target.closest(withOwnKeys) !== null;
  const isPlain = !(event.altKey || event.ctrlKey || event.metaKey);
  if (!event.defaultPrevented && isPlain && !isOwn && shownGame.peek() !== undefined && goByKey(event)) {
    event.preventDefault();
  }
}
