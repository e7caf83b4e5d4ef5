import { type ParseArgsConfig, parseArgs } from "node:util";
import { withoutControls, withoutControlsInLines } from "../text/controls.ts";
import { didYouMean } from "../text/nearest-name.ts";
import {
  type Command,
  type CommandInput,
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

export async function run(args: readonly string[], host: Host = hostOfProcess()): Promise<number> {
  host.stdout.once("error", (error) => host.exit(whyNotWritten(error, host)));
  const [first, ...rest] = args;
  if (first === "--help" || first === "-h" || first === "help") {
    host.stdout.write(helpOfAll(await allCommands(), columnsOf(host)));
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

/** Reports output that could not be written, for example on a full disk. Returns the exit code. */
function whyNotWritten(error: NodeJS.ErrnoException, { stderr }: Host): number {
  if (error.code === "EPIPE") {
    // The program that reads the pipe, such as `head`, needs no more output.
    return exitCode.ok;
  }
  const reason = withoutControls(error.message);
  stderr.write(`kibitz: standard output cannot be written: ${reason}. It is not complete.\n`);
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
      // Exit explicitly: in a container, this process has the id 1, and the kernel does not end this process after a signal.
      host.exit(exitCode.interrupted);
    }
    interrupted.abort(new Error(cause));
  };
  const stopWatching = onNpmGone(host, () => interrupted.abort(new Error("npm has ended")));
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
    // The message can contain text of a setting, an argument or a file.
    const message = withoutControlsInLines(error instanceof Error ? error.message : String(error));
    host.stderr.write(`${message.replace(/^/gm, "kibitz: ")}\n`);
    return exitCode.failure;
  } finally {
    stopWatching();
    for (const signal of stopSignals) {
      host.off(signal, interrupt);
    }
  }
}

function complain({ stderr }: Host, message: string, help: string): number {
  stderr.write(`kibitz: ${withoutControlsInLines(message)}\n\nSee ${help}\n`);
  return exitCode.usage;
}

function readArguments(
  command: Command,
  args: readonly string[],
): Pick<CommandInput, "values" | "positionals"> {
  const options: ParseArgsConfig["options"] = { ...command.options, help: helpOption };
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    // Remove Node's advice about arguments that begin with a hyphen, because no command has such arguments.
    const [message = ""] = said.replaceAll("\n", " ").split(". To specify a positional");
    const [, name = ""] = /^Unknown option '--(.+)'/.exec(message) ?? [];
    const hint = didYouMean(name, Object.keys(options), "", (meant) => `--${meant}`);
    throw new UsageError([message, hint].filter(Boolean).join("; "));
  }
}
