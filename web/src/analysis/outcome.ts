import type { Position } from "../../../src/chess/position.ts";
import { texts } from "../texts.ts";

const words = texts.analysis;

/** That the game is over, or that it may be claimed drawn; undefined where it goes on. */
export function outcomeInWords({ terminal, drawClaim, turn }: Position): string | undefined {
  const { colours } = texts.board;
  if (terminal) {
    return terminal.reason === "checkmate"
      ? words.terminal.checkmate(colours[terminal.winner ?? "white"])
      : words.terminal[terminal.reason];
  }
  return drawClaim && words.claims[drawClaim](colours[turn]);
}
