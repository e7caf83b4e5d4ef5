import type { Host } from "./host.ts";

/** Returns the maximum line length in characters. Undefined means no limit. */
export function columnsOf({ env, stdout }: Pick<Host, "env" | "stdout">): number | undefined {
  const asked = Number(env.COLUMNS);
  return Number.isInteger(asked) && asked > 0 ? asked : (stdout.isTTY && stdout.columns) || undefined;
}

/** Breaks a long line. By default, the following lines are indented by two more spaces than the first line. */
export function wrapped(
  line: string,
  columns: number,
  indent = line.length - line.trimStart().length + 2,
): readonly string[] {
  const lines = [""];
  // Do not separate a number from its move or unit. Keep spaces after each word, so that columns stay aligned.
  for (const word of line.match(/ *(?:\d[\d.,]* )?[^ ]+ */g) ?? []) {
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
