import { ConfigError } from "../config.ts";
import { nearestName } from "../text/nearest-name.ts";
import { type Command, exitCode, UsageError } from "./command.ts";
import { helpOf, helpOfAll } from "./help.ts";
import type { Host } from "./host.ts";
import { readArguments } from "./read-arguments.ts";

/** Read when asked for: `serve` starts its engine before the modules of the server are read. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./serve.ts")).serveCommand,
  eval: async () => (await import("./analyse.ts")).evalCommand,
  bestmove: async () => (await import("./analyse.ts")).bestmoveCommand,
  engines: async () => (await import("./engines.ts")).enginesCommand,
  keys: async () => (await import("./keys.ts")).keysCommand,
};

/** Runs `kibitz` with its arguments. Without any it serves. Resolves with the exit code. */
export async function run(args: readonly string[], host: Host = process): Promise<number> {
  const [first, ...rest] = args;
  if (first === "--help" || first === "-h" || first === "help") {
    host.stdout.write(helpOfAll(await Promise.all(Object.values(commands).map((read) => read()))));
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
    const meant = nearestName(name, Object.keys(commands));
    const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
    return complain(host, `there is no command ${JSON.stringify(name)}${hint}`, "kibitz --help");
  }
  return runCommand(name, await command(), named ? rest : args, host);
}

async function runCommand(
  name: string,
  command: Command,
  args: readonly string[],
  host: Host,
): Promise<number> {
  const interrupted = new AbortController();
  const interrupt = (cause: NodeJS.Signals) => {
    // The next one, whichever it is, ends the process at once.
    listenNoMore();
    interrupted.abort(new Error(cause));
  };
  const listenNoMore = () => {
    host.off("SIGINT", interrupt);
    host.off("SIGTERM", interrupt);
  };
  host.on("SIGINT", interrupt);
  host.on("SIGTERM", interrupt);
  // Whoever read the answers has closed the pipe (`| head`): there is nobody left to answer.
  host.stdout.once("error", () => host.exit(exitCode.ok));
  try {
    const { values, positionals } = readArguments(command, args);
    if (values.help === true) {
      host.stdout.write(helpOf(command));
      return exitCode.ok;
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
