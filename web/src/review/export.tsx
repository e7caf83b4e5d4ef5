import { usePage } from "../page.ts";
import { CopyButton } from "../parts/copy-button.tsx";
import { fileNameOf } from "./found-games.ts";
import { reviewedPgn } from "./reviewed-pgn.ts";

/** How long the browser may take to begin a download, in milliseconds: some read the address after the click. */
const downloadMs = 60_000;

/** The game with its review as a PGN, and a link to the review. */
export function Export() {
  const { game, review, address } = usePage();
  const state = review.progress.value;
  if (state.kind !== "done") {
    return null;
  }
  const pgn = () => reviewedPgn(state.review.pgn, game.game.peek());
  const link = address.link();
  return (
    <section class="panel row" aria-labelledby="export-title">
      <h3 id="export-title">Export</h3>
      <button type="button" onClick={() => download(pgn(), fileNameOf(game.game.peek().tags))}>
        Download PGN
      </button>
      <CopyButton label="Copy PGN" face="Copy PGN" text={pgn} />
      {/* A link has no room for a long game. */}
      {link.includes("pgn=") && <CopyButton label="Copy link" face="Copy link" text={() => link} />}
    </section>
  );
}

function download(pgn: string, name: string): void {
  const address = URL.createObjectURL(new Blob([pgn], { type: "application/x-chess-pgn" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), downloadMs);
}
