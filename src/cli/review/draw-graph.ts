interface GraphInput {
  /** White's winning chances in percent, one for each position. */
  readonly percents: readonly number[];
  /** The indexes of the positions that get an arrow. */
  readonly marked: readonly number[];
  /** `at` is the index of the first position of a phase. */
  readonly parts: readonly { readonly name: string; readonly at: number }[];
}

const rows = 6;
const blocks = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const widthMax = 100;
/** Limits the width of the graph for short games. */
const columnsPerPositionMax = 4;
const titleWidth = 8;

/** If a column represents several positions, the column shows their mean. */
export function drawGraph({ percents, marked, parts }: GraphInput, columns: number): readonly string[] {
  const widthFree = Math.max(10, Math.min(widthMax, columns - titleWidth - 2));
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
  const names = namesIn(
    parts.map(({ name, at }) => [columnOf(at), name]),
    widthFree,
  );
  const indent = " ".repeat(titleWidth);
  return [...lines, ...(marked.length > 0 ? [`${indent}${arrows}`] : []), `${indent}${names}`];
}

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

/**
 * Writes each name behind a mark at its column. If the name does not fit there, writes the name before the mark, or only the mark:
 * a line that is too long would be broken, and the name would then stand below another move.
 */
function namesIn(names: readonly (readonly [column: number, name: string])[], width: number): string {
  return names.reduce((line, [column, name]) => {
    const behind = `${line.padEnd(column)}╵${name}`;
    const before = column - name.length;
    if (behind.length <= width) {
      return behind;
    }
    return before > line.length
      ? `${line.padEnd(before)}${name}╵`
      : `${line.padEnd(column)}╵`.slice(0, width);
  }, "");
}

/** Writes each text at its column. If another text occupies the column, writes directly after the other text. */
function textAt(texts: readonly (readonly [column: number, text: string])[]): string {
  return texts.reduce((line, [column, text]) => `${line.padEnd(column)}${text}`, "");
}
