import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { fileNameOf } from "./found-games.ts";
import { reviewedPgn } from "./reviewed-pgn.ts";

export function Export() {
  const { game, review, address } = usePage();
  const state = review.progress.value;
  if (state.kind !== "done") {
    return null;
  }
  const pgn = reviewedPgn(state.review.pgn, game.game.value);
  const link = address.link();
  return (
    <section class="panel row" aria-labelledby="export-title">
      <h3 id="export-title">Export</h3>
      <a
        class="button"
        href={`data:application/x-chess-pgn,${encodeURIComponent(pgn)}`}
        download={fileNameOf(game.game.value.tags)}
      >
        Download PGN
      </a>
      <CopyButton label="Copy PGN" face="Copy PGN" text={() => pgn} />
      {/* The link of a long game does not contain the game. */}
      {link.includes("pgn=") && <CopyButton label="Copy link" face="Copy link" text={() => link} />}
    </section>
  );
}
