import type { Host } from "./host.ts";

/** The longest line that output may have: $COLUMNS, or the width of the terminal; undefined if there is neither. */
export function columnsOf({ env, stdout }: Pick<Host, "env" | "stdout">): number | undefined {
  const asked = Number(env.COLUMNS);
  return Number.isInteger(asked) && asked > 0 ? asked : (stdout.isTTY && stdout.columns) || undefined;
}

/** Indents all lines but the first, by default by two more than the first. */
export function wrapped(
  line: string,
  columns: number,
  indent = line.length - line.trimStart().length + 2,
): readonly string[] {
  const lines = [""];
  // Keep spaces with the word before them, so that columns stay aligned, and a number with its move.
  for (const word of line.match(/ *(?:\d+\.(?:\.\.)? )?[^ ]+ */g) ?? []) {
    const last = lines.at(-1) ?? "";
    if (last.trim() !== "" && `${last}${word}`.trimEnd().length > columns) {
      lines.push(`${" ".repeat(indent)}${word.trimStart()}`);
    } else {
      lines[lines.length - 1] = last + word;
    }
  }
  return lines.map((one) => one.trimEnd());
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
