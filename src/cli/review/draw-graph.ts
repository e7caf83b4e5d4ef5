import type { Style } from "../style.ts";

interface GraphInput {
  /** White's chances in each position of a game, 0 to 100. */
  readonly percents: readonly number[];
  /** Positions that are pointed at. */
  readonly marked: readonly number[];
  /** Where a part of the game begins, and its name; the first begins with the game. */
  readonly parts: readonly { readonly name: string; readonly at: number }[];
}

const rows = 6;
const blocks = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const widthMax = 100;
/** A short game is not drawn out. */
const columnsPerPositionMax = 4;
const titleWidth = 8;

/**
 * White's chances over a game: the more, the higher. Below it, arrows to what is pointed at, and the parts of the game.
 * A long game has several positions in a column, the mean of which is drawn.
 */
export function drawGraph({ percents, marked, parts }: GraphInput, style: Style): readonly string[] {
  const widthFree = Math.max(10, Math.min(widthMax, style.columns - titleWidth - 2));
  const wide = Math.min(columnsPerPositionMax, Math.floor(widthFree / percents.length));
  const width = wide > 0 ? wide * percents.length : widthFree;
  const columnOf = (position: number) => Math.floor((position * width) / percents.length);
  const heights = Array.from({ length: width }, (_, column) => heightOf(percents, column, width));

  const lines = Array.from({ length: rows }, (_, index) => {
    const row = rows - 1 - index;
    const line = heights.map((height) => blocks[Math.min(8, Math.max(0, height - row * 8))]).join("");
    return `${titleOf(row)}${line}`.trimEnd();
  });
  const arrows = textAt(marked.map((position) => [columnOf(position), "↑"]));
  const names = textAt(parts.map(({ name, at }) => [columnOf(at), `╵${name}`]));
  const indent = " ".repeat(titleWidth);
  return [
    ...lines,
    ...(marked.length > 0 ? [`${indent}${style.paint("red", arrows)}`] : []),
    `${indent}${names.slice(0, style.columns - titleWidth)}`,
  ];
}

/** In eighths of a row. */
function heightOf(percents: readonly number[], column: number, width: number): number {
  const first = Math.floor((column * percents.length) / width);
  const end = Math.max(first + 1, Math.floor(((column + 1) * percents.length) / width));
  const own = percents.slice(first, end);
  const mean = own.reduce((sum, percent) => sum + percent, 0) / own.length;
  return Math.round((mean / 100) * rows * 8);
}

function titleOf(row: number): string {
  const title = row === rows - 1 ? "White" : row === rows / 2 ? "50 %" : row === 0 ? "Black" : "";
  return `${title.padStart(titleWidth - 2)} ┤`;
}

/** Each at its column, unless that is taken by the one before: then behind it. */
function textAt(texts: readonly (readonly [column: number, text: string])[]): string {
  return texts.reduce((line, [column, text]) => `${line.padEnd(column)}${text}`, "");
}
