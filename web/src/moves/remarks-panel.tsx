import { useState } from "preact/hooks";
import { glyphsOfNags } from "../../../src/game/read-word.ts";
import { commentTexts } from "../game/game.ts";
import { ownNags } from "../game/pgn.ts";
import { usePage } from "../page.ts";
import { numberedMove } from "./move-number.ts";
import { drawingsOf, glyphGroups, textInPgn, withDrawings, withGlyph, withText } from "./remarks.ts";

/** The comment, the glyphs and the drawings of the position on the board. */
export function RemarksPanel() {
  const { game, review } = usePage();
  const node = game.at.value;
  const { comments, nags, move } = node;
  const [typed, setTyped] = useState("");
  const isReviewed = review.reviewOf(node) !== undefined;
  const text = commentTexts(comments, isReviewed).join(" ");
  const own = isReviewed ? ownNags(node) : nags;
  const name = move ? `Comment on ${numberedMove(node)}` : "Comment on the start";
  return (
    <details class="remarks">
      <summary>Comment, glyphs and arrows</summary>
      <div class="remarks-fields">
        <textarea
          aria-label={name}
          placeholder={name}
          rows={2}
          value={textInPgn(typed) === text ? typed : text}
          onInput={({ currentTarget: { value } }) => {
            setTyped(value);
            game.annotate({ comments: withText(comments, value) }, true);
          }}
        />
        {move &&
          glyphGroups.map((glyphs, index) => (
            <div key={index} class="row remarks-glyphs">
              {glyphs.map(([nag, title]) => (
                <button
                  key={nag}
                  type="button"
                  aria-label={title}
                  title={title}
                  aria-pressed={own.includes(nag)}
                  onClick={() => game.annotate({ nags: withGlyph(own, nag) })}
                >
                  {glyphsOfNags([nag])}
                </button>
              ))}
            </div>
          ))}
        <p class="quiet-text">
          Draw an arrow or a circle with the right mouse button. Shift, Alt and both change the colour. With
          the keyboard, press Shift + Enter on two squares. On a touch screen, press “Draw arrows and circles”
          first.
        </p>
        {drawingsOf(comments).length > 0 && (
          <button type="button" onClick={() => game.annotate({ comments: withDrawings(comments, []) })}>
            Erase the arrows and circles
          </button>
        )}
      </div>
    </details>
  );
}
