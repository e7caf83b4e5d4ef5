import { type Game, type GameNode, joinChildren } from "../game/game.ts";
import { gameFromPgn, pgnOfGame } from "../game/pgn.ts";

/** Adds the moves that the PGN of the review does not contain: moves that the user tried, and moves that were not reviewed. */
export function reviewedPgn(pgn: string, game: Game): string {
  const reading = gameFromPgn(pgn);
  if (reading.kind !== "game") {
    return pgn;
  }
  const start = withLinesOf(reading.game.start, game.start);
  return sizeOf(start) === sizeOf(reading.game.start) ? pgn : pgnOfGame({ ...reading.game, start });
}

function withLinesOf(node: GameNode, other: GameNode): GameNode {
  return { ...node, children: joinChildren(node.children, other.children, withLinesOf) };
}

function sizeOf({ children }: GameNode): number {
  return children.reduce((size, child) => size + sizeOf(child), 1);
}
