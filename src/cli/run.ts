import { parseArgs } from "node:util";
import { didYouMean } from "../text/nearest-name.ts";
import { echo } from "../text/plain-text.ts";
import { ConfigError } from "../wiring/config.ts";
import {
  type Command,
  type CommandInput,
  type CommandOption,
  exitCode,
  helpOf,
  helpOfAll,
  helpOption,
  UsageError,
} from "./command.ts";
import { allCommands, commands } from "./commands.ts";
import { type Host, hostOfProcess, stopSignals } from "./host.ts";
import { onNpmGone } from "./npm-gone.ts";
import { columnsOf } from "./style.ts";

/** Runs `kibitz` with its arguments, or `kibitz serve` without any. Resolves with the exit code. */
export async function run(args: readonly string[], host: Host = hostOfProcess()): Promise<number> {
  host.stdout.once("error", (error) => host.exit(whyNotWritten(error, host)));
  const [first, ...rest] = args;
  if (first === "--help" || first === "-h" || first === "help") {
    const all = (await allCommands()).map(([, command]) => command);
    host.stdout.write(helpOfAll(all, columnsOf(host)));
    return exitCode.ok;
  }
  if (first === "--version" || first === "-v") {
    const { default: manifest } = await import("../../package.json", { with: { type: "json" } });
    host.stdout.write(`${manifest.version}\n`);
    return exitCode.ok;
  }
  const named = first !== undefined && !first.startsWith("-");
  const name = named ? first : "serve";
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) {
    const complaint = `there is no command ${JSON.stringify(name)}`;
    const hint = didYouMean(name, Object.keys(commands), "", (meant) => meant);
    return complain(host, [complaint, hint].filter(Boolean).join("; "), "kibitz --help");
  }
  return runCommand(name, await command(), named ? rest : args, host);
}

/** Reports output that was lost, as on a full disk, and returns the exit code. */
function whyNotWritten(error: NodeJS.ErrnoException, { stderr }: Host): number {
  if (error.code === "EPIPE") {
    // The reader has closed the pipe (`| head`) and needs no more output.
    return exitCode.ok;
  }
  stderr.write(`kibitz: standard output cannot be written: ${error.message}. It is not complete.\n`);
  return exitCode.failure;
}

async function runCommand(
  name: string,
  command: Command,
  args: readonly string[],
  host: Host,
): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = (cause: NodeJS.Signals) => {
    if (interrupted.signal.aborted) {
      // The kernel does not end the first process of a container at a signal.
      host.exit(exitCode.interrupted);
    }
    interrupted.abort(new Error(cause));
  };
  const lookNoMore = onNpmGone(host, () => interrupted.abort(new Error("npm has ended")));
  const listenNoMore = () => {
    lookNoMore();
    for (const signal of stopSignals) {
      host.off(signal, interrupt);
    }
  };
  for (const signal of stopSignals) {
    host.on(signal, interrupt);
  }
  try {
    const { values, positionals } = readArguments(command, args);
    if (values.help === true) {
      host.stdout.write(helpOf(command, columnsOf(host)));
      return exitCode.ok;
    }
    if (command.usage === name && positionals.length > 0) {
      throw new UsageError(`${name} takes no arguments`);
    }
    return await command.run({ values, positionals, signal: interrupted.signal, host });
  } catch (error) {
    if (interrupted.signal.aborted) {
      return exitCode.interrupted;
    }
    if (error instanceof UsageError) {
      return complain(host, error.message, `kibitz ${name} --help`);
    }
    if (error instanceof ConfigError) {
      host.stderr.write(error.message.replace(/^/gm, "kibitz: ").concat("\n"));
      return exitCode.failure;
    }
    host.stderr.write(`kibitz: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitCode.failure;
  } finally {
    listenNoMore();
  }
}

function complain({ stderr }: Host, message: string, help: string): number {
  stderr.write(`kibitz: ${message}\n\nSee ${help}\n`);
  return exitCode.usage;
}

type Arguments = Pick<CommandInput, "values" | "positionals">;

/**
 * Reads the arguments of a command. The messages are ours, because Node's speak of JavaScript's types and of positional arguments.
 *
 * @throws UsageError for an argument that the command does not know
 */
function readArguments(command: Command, args: readonly string[]): Arguments {
  const options: Readonly<Record<string, CommandOption>> = { ...command.options, help: helpOption };
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = new Set<string>();
  for (const token of tokens) {
    if (token.kind === "option") {
      const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
      checkOption(token, option, Object.keys(options));
      // Node takes the last value: the other would silently have no effect.
      if (option?.type === "string" && option.multiple !== true && given.has(token.name)) {
        throw new UsageError(`--${token.name} is given more than once`);
      }
      given.add(token.name);
    }
  }
  return { values, positionals };
}

interface OptionToken {
  readonly name: string;
  /** `--depth` or `-d`, as written. */
  readonly rawName: string;
  readonly value?: string | undefined;
  /** True if the value was written with the option: `--depth=8`, `-d8`. */
  readonly inlineValue?: boolean | undefined;
}

function checkOption(
  { name, rawName, value, inlineValue }: OptionToken,
  option: CommandOption | undefined,
  names: readonly string[],
): void {
  if (option === undefined) {
    const written = (option: string) => `--${option}`;
    const known = `the options are ${names.map(written).join(", ")}`;
    const hint = rawName.startsWith("--") ? didYouMean(name, names, known, written) : known;
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
  // An option without its value would take the next option for it.
  if (!inlineValue && /^-./.test(value)) {
    throw new UsageError(
      `${rawName} needs a value, and ${echo(value)} looks like an option; if it is the value, write --${name}=${echo(value)}`,
    );
  }
}
