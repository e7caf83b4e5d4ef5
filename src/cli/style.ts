import { stripVTControlCharacters, styleText } from "node:util";
import type { Host } from "./host.ts";

/** Colours and width of the terminal. */
export interface Style {
  readonly hasColors: boolean;
  /** Longest line, in characters. */
  readonly columns: number;
  paint(format: Parameters<typeof styleText>[0], text: string): string;
}

/** The width if standard output is no terminal. */
const usualColumns = 80;

/** $COLUMNS, or the width of the terminal; undefined if standard output is no terminal. */
export function columnsOf({ env, stdout }: Pick<Host, "env" | "stdout">): number | undefined {
  const asked = Number(env.COLUMNS);
  return Number.isInteger(asked) && asked > 0 ? asked : (stdout.isTTY && stdout.columns) || undefined;
}

/** Breaks a line between words, and indents all lines but the first, by default by two more than the first. */
export function wrapped(
  line: string,
  columns: number,
  indent = line.length - line.trimStart().length + 2,
): readonly string[] {
  const lines = [""];
  // Spaces stay with the word before them, so that columns stay aligned, and a number with its move.
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

/** `1 game`, `2 games` */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
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
