import type { Command, CommandOption } from "./command.ts";

export function helpOfAll(commands: readonly Command[]): string {
  const rows = commands.map(({ usage, about }): Row => [`kibitz ${usage}`, about]);
  return lines([
    "Kibitz: chess position analysis with a real Stockfish, as a server or on the command line.",
    "",
    ...table(rows),
    "",
    "Without a command, kibitz runs serve. Each command has its own --help; kibitz --version prints the version.",
    "Exit codes: 0 success, 1 failure, 2 invalid arguments or a request that must be changed, 130 interrupted.",
  ]);
}

export function helpOf({ usage, about, options, notes }: Command): string {
  const rows = Object.entries({ ...options, help: helpOption }).map(rowOfOption);
  return lines([
    `kibitz ${usage}`,
    "",
    about,
    "",
    ...table(rows),
    ...(notes.length > 0 ? ["", ...notes] : []),
  ]);
}

/** Every command has it. */
export const helpOption: CommandOption = { type: "boolean", short: "h", about: "show this help" };

type Row = readonly [left: string, right: string];

function rowOfOption([name, { short, value, about }]: [string, CommandOption]): Row {
  return [`${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`, about];
}

/** Two columns, indented. */
export function table(rows: readonly Row[]): readonly string[] {
  return columns(rows).map((line) => `  ${line}`);
}

/** Rows of equally many cells, each as wide as the widest of its column. */
export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function lines(text: readonly string[]): string {
  return `${text.join("\n")}\n`;
}
