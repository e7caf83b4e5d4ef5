import { parseArgs } from "node:util";
import { nearestName } from "../text/nearest-name.ts";
import { echo } from "../text/plain-text.ts";
import { type Command, type CommandInput, type CommandOption, UsageError } from "./command.ts";
import { helpOption } from "./help.ts";

type Arguments = Pick<CommandInput, "values" | "positionals">;

/**
 * What stands behind the name of a command. Throws a UsageError for what the command does not know, in our words:
 * Node's own speak of JavaScript's types, and of a positional argument that nobody wanted to write.
 */
export function readArguments(command: Command, args: readonly string[]): Arguments {
  const options: Readonly<Record<string, CommandOption>> = { ...command.options, help: helpOption };
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "option") {
      const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
      judge(token, option, Object.keys(options));
    }
  }
  return { values, positionals };
}

interface OptionToken {
  readonly name: string;
  /** As it was written: `--depth` or `-d`. */
  readonly rawName: string;
  readonly value?: string | undefined;
  /** Whether the value was written with it: `--depth=8`, `-d8`. */
  readonly inlineValue?: boolean | undefined;
}

function judge(
  { name, rawName, value, inlineValue }: OptionToken,
  option: CommandOption | undefined,
  names: readonly string[],
): void {
  if (option === undefined) {
    const meant = rawName.startsWith("--") ? nearestName(name, names) : undefined;
    const known = names.map((each) => `--${each}`).join(", ");
    const hint = meant === undefined ? `the options are ${known}` : `did you mean --${meant}?`;
    throw new UsageError(`there is no option ${echo(rawName)}; ${hint}`);
  }
  if (option.type === "boolean") {
    if (value !== undefined) {
      throw new UsageError(`${rawName} takes no value: write ${rawName} alone`);
    }
    return;
  }
  const written = `--${name}=${option.value ?? "<value>"}`;
  if (value === undefined) {
    throw new UsageError(`${rawName} needs a value: ${written}`);
  }
  // An option that was forgotten its value would swallow the next one.
  if (!inlineValue && /^-./.test(value)) {
    throw new UsageError(
      `${rawName} needs a value, and ${echo(value)} looks like an option; if it is the value, write --${name}=${echo(value)}`,
    );
  }
}
