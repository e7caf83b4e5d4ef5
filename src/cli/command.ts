import type { ParseArgsConfig } from "node:util";
import type { Host } from "./host.ts";
import { wrapped } from "./style.ts";

/** `usage` means that the user must change the arguments or the input. `failure` means any other error. */
export const exitCode = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const;

export interface Command {
  /** The command with its arguments, such as `eval <fen>`. */
  readonly usage: string;
  readonly about: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  readonly notes: readonly string[];
  run(input: CommandInput): Promise<number>;
}

type CommandOption = NonNullable<ParseArgsConfig["options"]>[string] & {
  readonly value?: string;
  readonly about: string;
};

export interface CommandInput {
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly positionals: readonly string[];
  /** Aborted by Ctrl-C, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
  readonly host: Host;
}

export class UsageError extends Error {}

export function helpOfAll(commands: readonly Command[], columns?: number): string {
  return fitted(columns, [
    "Kibitz: chess position analysis with a real Stockfish, as a server or on the command line.",
    "",
    ...table(
      commands.map(({ usage, about }) => [`kibitz ${usage}`, about]),
      columns,
    ),
    "",
    "With --url, bestmove, eval, review, uci, mcp and engines ask a running service instead of an engine of their own.",
    "Without a command, kibitz runs serve. Each command has its own --help; kibitz --version prints the version.",
    "Exit codes: 0 success, 1 failure, 2 invalid arguments or a request that must be changed, 130 interrupted.",
  ]);
}

export function helpOf({ usage, about, options, notes }: Command, columns?: number): string {
  const rows = Object.entries({ ...options, help: helpOption }).map(rowOfOption);
  return fitted(columns, [`kibitz ${usage}`, "", about, "", ...table(rows, columns), "", ...notes]);
}

function fitted(columns = Number.POSITIVE_INFINITY, lines: readonly string[]): string {
  return `${lines
    .flatMap((line) => wrapped(line, columns))
    .join("\n")
    .trimEnd()}\n`;
}

export const helpOption: CommandOption = { type: "boolean", short: "h", about: "show this help" };

type Row = readonly [left: string, right: string];

function rowOfOption([name, { short, value, about }]: [string, CommandOption]): Row {
  return [`${short ? `-${short}, ` : "    "}--${name}${value ? ` ${value}` : ""}`, about];
}

/** Formats two columns. Puts the right column below the left column if the left column is wider than half of `width`. */
export function table(rows: readonly Row[], width = Number.POSITIVE_INFINITY): readonly string[] {
  const indent = rows.reduce((widest, [left]) => Math.max(widest, left.length), 0) + 4;
  return indent > width / 2
    ? rows.flatMap(([left, right]) => [`  ${left}`, ...wrapped(`      ${right}`, width, 6)])
    : columns(rows).flatMap((line) => wrapped(`  ${line}`, width, indent));
}

export function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widest = (column: number) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0);
  const widths = rows[0]?.map((_, column) => widest(column)) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
