import type { Game, GameNode } from "../game/game.ts";
import { gameFromPgn, pgnOfGame } from "../game/pgn.ts";

/** The PGN of a review, with the moves of the game that the review does not have: those that were tried since, or not reviewed. */
export function reviewedPgn(pgn: string, game: Game): string {
  const reading = gameFromPgn(pgn);
  if (reading.kind !== "game") {
    return pgn;
  }
  const start = withLinesOf(reading.game.start, game.start);
  return start === reading.game.start ? pgn : pgnOfGame({ ...reading.game, start });
}

/** Returns the same node if it has all lines of the other. */
function withLinesOf(node: GameNode, other: GameNode): GameNode {
  let result = node;
  for (const child of other.children) {
    const own = node.children.find(({ id }) => id === child.id);
    const next = own ? withLinesOf(own, child) : child;
    if (next !== own) {
      const others = result.children.map((known) => (known === own ? next : known));
      result = { ...result, children: own ? others : [...others, next] };
    }
  }
  return result;
}
