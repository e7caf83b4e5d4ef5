import { stripVTControlCharacters, styleText } from "node:util";
import type { Host } from "./host.ts";

/** How text is shown: in colours on a terminal that takes them, else as it is. */
export interface Style {
  readonly hasColors: boolean;
  /** How wide a line may be, in characters. */
  readonly columns: number;
  paint(format: Parameters<typeof styleText>[0], text: string): string;
}

/** Where nobody looks, lines are as long as on most terminals. */
const usualColumns = 80;

/** As the user says, else of the terminal; undefined if nobody looks. */
export function columnsOf({ env, stdout }: Pick<Host, "env" | "stdout">): number | undefined {
  const asked = Number(env.COLUMNS);
  return Number.isInteger(asked) && asked > 0 ? asked : (stdout.isTTY && stdout.columns) || undefined;
}

/** The line in as many as its words need, those after the first one indented: by two more than the first, unless said. */
export function wrapped(
  line: string,
  columns: number,
  indent = line.length - line.trimStart().length + 2,
): readonly string[] {
  const lines = [""];
  // A run of spaces belongs to the word before it, so that columns stay columns, and a number to its move.
  for (const word of line.match(/ *(?:\d+\.(?:\.\.)? )?[^ ]+ */g) ?? []) {
    const last = lines.at(-1) ?? "";
    const isFull = widthOf(`${last}${word}`.trimEnd()) > columns;
    if (isFull && last.trim() !== "") {
      lines[lines.length - 1] = last.trimEnd();
      lines.push(`${" ".repeat(indent)}${word.trimStart()}`);
    } else {
      lines[lines.length - 1] = last + word;
    }
  }
  return lines.map((one) => one.trimEnd());
}

function widthOf(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** @see https://no-color.org */
export function styleOf(host: Pick<Host, "env" | "stdout">): Style {
  const { env, stdout } = host;
  const hasColors = stdout.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  return {
    hasColors,
    columns: columnsOf(host) ?? usualColumns,
    paint: (format, text) => (hasColors ? styleText(format, text, { validateStream: false }) : text),
  };
}
