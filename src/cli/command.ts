import type { ParseArgsConfig } from "node:util";
import type { Host } from "./host.ts";

/** Exit codes: `usage` is for arguments and input that must be changed, `failure` for all that went wrong otherwise. */
export const exitCode = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const;

/** One word after `kibitz`. */
export interface Command {
  /** `eval <fen>`: how it is written. */
  readonly usage: string;
  /** One line. */
  readonly about: string;
  readonly options: Readonly<Record<string, CommandOption>>;
  /** Lines below the options. */
  readonly notes: readonly string[];
  /** Resolves with the exit code. */
  run(input: CommandInput): Promise<number>;
}

export type CommandOption = NonNullable<ParseArgsConfig["options"]>[string] & {
  /** What stands for the value in the help: `<plies>`. */
  readonly value?: string;
  readonly about: string;
};

export interface CommandInput {
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly positionals: readonly string[];
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  readonly host: Host;
}

/** The arguments are wrong: the message says how, and the way out. */
export class UsageError extends Error {}
