import type { Color } from "../../chess/position.ts";

interface DrawnMove {
  readonly from: string;
  readonly to: string;
}

interface BoardInput {
  readonly fen: string;
  readonly side: Color;
  readonly played: DrawnMove | undefined;
  /** Undefined if the played move is the best move. */
  readonly best: DrawnMove | undefined;
}

const files = [..."abcdefgh"];

/** Marks the squares of the played move with `( )`, and the squares of the best move with `[ ]`. */
export function drawBoard({ fen, side, played, best }: BoardInput): readonly string[] {
  const [board = ""] = fen.split(" ");
  const ranks = board.replace(/\d/g, (count) => " ".repeat(Number(count))).split("/");
  const turned = <T>(row: readonly T[]) => (side === "white" ? row : row.toReversed());
  const lines = ranks.map((rank, down) => {
    const squares = [...rank].map((piece, file) => {
      const name = `${files[file]}${8 - down}`;
      const [open, close] = holds(played, name) ? "()" : holds(best, name) ? "[]" : "  ";
      const isDark = (file + down) % 2 === 1;
      return `${open}${piece === " " && isDark ? "·" : piece}${close}`;
    });
    return `${8 - down} ${turned(squares).join("")}`;
  });
  const letters = `   ${turned(files).join("  ")}`;
  return [...turned(lines), letters].map((line) => line.trimEnd());
}

function holds(move: DrawnMove | undefined, square: string): boolean {
  return move !== undefined && (move.from === square || move.to === square);
}
