import { fileNameOf } from "../game/tags.ts";
import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";

const id = "share";

/** A menu with everything that gets the game out of the page. */
export function Share() {
  const { game, review, address } = usePage();
  const pgn = review.exported.value;
  const { note } = address.link.value;
  return (
    <>
      <button type="button" class="quiet" popovertarget={id}>
        <Icon name="link" /> Share
      </button>
      <div id={id} class="share panel" popover="auto">
        <CopyButton label="Copy link" face="Copy link" text={() => address.link.peek().href} />
        {note && <p class="quiet-text">{note}</p>}
        <CopyButton label="Copy FEN" face="Copy FEN" text={() => game.at.peek().position.fen} />
        <CopyButton label="Copy PGN" face="Copy PGN" text={() => pgn} />
        <a
          class="button"
          href={`data:application/x-chess-pgn;charset=utf-8,${encodeURIComponent(pgn)}`}
          download={fileNameOf(game.game.value.tags)}
        >
          Download PGN
        </a>
      </div>
    </>
  );
}
