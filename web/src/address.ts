import { computed } from "@preact/signals";
import { standardStart } from "../../src/chess/validate-position.ts";
import { startPlace } from "./place-text.ts";
import { thePage } from "./the-page.ts";

const { game, address } = thePage;

/** The position of the page, for parts that do not use `usePage` yet. */
export const played = computed(() => {
  const { fen } = game.game.value.start.position;
  return {
    fen: fen === standardStart ? startPlace.fen : fen,
    moves: game.line.value.slice(1).map(({ move }) => move?.san ?? ""),
    ply: game.at.value.ply,
    orientation: game.orientation.value,
  };
});

export const linkToHere = address.link;

export function addressOfPosition(fen: string, moves: readonly string[], ply = moves.length): string {
  return address.linkTo({ view: "analysis", fen, moves, ply });
}
