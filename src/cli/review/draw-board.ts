import type { Color } from "../../chess/position.ts";
import type { Style } from "../style.ts";

/** A move by its squares, such as `e2` and `e4`. */
interface DrawnMove {
  readonly from: string;
  readonly to: string;
}

interface BoardInput {
  readonly fen: string;
  /** The side at the bottom. */
  readonly side: Color;
  readonly played: DrawnMove;
  /** The best move, if the played one was not. */
  readonly best: DrawnMove | undefined;
}

const glyphs: Readonly<Record<string, string>> = { k: "♚", q: "♛", r: "♜", b: "♝", n: "♞", p: "♟" };

/**
 * Draws a position in nine lines. With colours, the squares of the played move are red and those of the best move green; without, pieces are
 * letters, and these squares have `( )` and `[ ]`.
 */
export function drawBoard({ fen, side, played, best }: BoardInput, style: Style): readonly string[] {
  const ranks = ranksOf(fen);
  const up = [0, 1, 2, 3, 4, 5, 6, 7];
  const [files, rows] = side === "white" ? [up, up.toReversed()] : [up.toReversed(), up];
  const square = (file: number, rank: number) => {
    const name = nameOf(file, rank);
    const isDark = (file + rank) % 2 === 0;
    const mark = holds(played, name) ? "played" : holds(best, name) ? "best" : undefined;
    return drawSquare(ranks[rank]?.[file] ?? "", isDark, mark, style);
  };
  return [
    ...rows.map((rank) => `${rank + 1} ${files.map((file) => square(file, rank)).join("")}`.trimEnd()),
    `  ${files.map((file) => ` ${letterOf(file)} `).join("")}`.trimEnd(),
  ];
}

function drawSquare(
  piece: string,
  isDark: boolean,
  mark: "played" | "best" | undefined,
  { hasColors, paint }: Style,
): string {
  if (!hasColors) {
    const [open, close] = mark === "played" ? "()" : mark === "best" ? "[]" : "  ";
    return `${open}${piece || (isDark ? "·" : " ")}${close}`;
  }
  const background = mark === "played" ? "bgRed" : mark === "best" ? "bgGreen" : isDark ? "bgBlue" : "bgCyan";
  const isWhite = piece !== piece.toLowerCase();
  return paint([background, isWhite ? "whiteBright" : "black"], ` ${glyphs[piece.toLowerCase()] ?? " "} `);
}

/** The pieces by rank from 1, then by file from a. */
function ranksOf(fen: string): readonly (readonly string[])[] {
  const [board = ""] = fen.split(" ");
  return board
    .split("/")
    .map((rank) => [...rank.replace(/\d/g, (count) => " ".repeat(Number(count)))].map((one) => one.trim()))
    .toReversed();
}

function holds(move: DrawnMove | undefined, square: string): boolean {
  return move !== undefined && (move.from === square || move.to === square);
}

function nameOf(file: number, rank: number): string {
  return `${letterOf(file)}${rank + 1}`;
}

function letterOf(file: number): string {
  return "abcdefgh".charAt(file);
}
