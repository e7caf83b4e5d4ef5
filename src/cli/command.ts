import type { ParseArgsConfig } from "node:util";
import type { Host } from "./host.ts";
import { wrapped } from "./style.ts";

/** The exit codes: `usage` if arguments or input must be changed, `failure` for other errors. */
export const exitCode = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const;

export interface Command {
  /** The command with its arguments, such as `eval <fen>`. If this is only the name, the command takes no arguments. */
  readonly usage: string;
  readonly about: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** The paragraphs below the options in the help. */
  readonly notes: readonly string[];
  /** Resolves with the exit code. */
  run(input: CommandInput): Promise<number>;
}

export type CommandOption = NonNullable<ParseArgsConfig["options"]>[string] & {
  /** The placeholder of the value in the help, such as `<plies>`. */
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

/** The error for wrong arguments. The message says what is wrong, and what to do. */
export class UsageError extends Error {}

/** @param columns the longest line, in characters */
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

/** The right column is below the left one if it would be narrow. `width` is the longest line, in characters. */
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
