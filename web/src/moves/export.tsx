import { fileNameOf } from "../game/tags.ts";
import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { Icon } from "../parts/icon.tsx";

export function Export() {
  const { game, review, address } = usePage();
  const pgn = review.exported.value;
  const { note } = address.link.value;
  return (
    <>
      <CopyButton label="Copy link" face="Link" icon="link" text={() => address.link.peek().href} />
      <CopyButton label="Copy FEN" face="FEN" icon="copy" text={() => game.at.peek().position.fen} />
      <CopyButton label="Copy PGN" face="PGN" icon="copy" text={() => pgn} />
      <a
        class="button quiet"
        href={`data:application/x-chess-pgn;charset=utf-8,${encodeURIComponent(pgn)}`}
        download={fileNameOf(game.game.value.tags)}
        aria-label="Save PGN"
        title="Save PGN"
      >
        <Icon name="download" /> Save
      </a>
      {note && <p class="quiet-text">{note}</p>}
    </>
  );
}
