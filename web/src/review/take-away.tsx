import { CopyButton } from "../parts/copy-button.tsx";
import { texts } from "../texts.ts";
import { fileNameOf } from "./found-games.ts";
import { progress } from "./run-review.ts";

const words = texts.review;

/** The game with its review, to be taken along. */
export function TakeAway() {
  const state = progress.value;
  if (state.kind !== "done") {
    return null;
  }
  const { pgn, tags } = state.review;
  return (
    <section class="take-away panel stack" aria-labelledby="take-away-title">
      <h3 id="take-away-title">{words.takeAway}</h3>
      <div class="row">
        <button type="button" onClick={() => download(pgn, fileNameOf(new Map(Object.entries(tags))))}>
          {words.download}
        </button>
        <CopyButton label={words.copy} text={() => pgn} />
      </div>
      <details>
        <summary>{words.annotated}</summary>
        <textarea class="annotated" readOnly rows={10} value={pgn} aria-label={words.annotated} />
      </details>
    </section>
  );
}

function download(pgn: string, name: string): void {
  const address = URL.createObjectURL(new Blob([pgn], { type: "application/x-chess-pgn" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
