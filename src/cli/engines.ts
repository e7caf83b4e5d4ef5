import { createClient } from "@connectrpc/connect";
import {
  AnalysisService,
  ListEnginesResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import { withoutControls } from "../text/controls.ts";
import { loadConfig } from "../wiring/config.ts";
import { ask } from "./ask.ts";
import { type Command, type CommandInput, columns, exitCode, UsageError } from "./command.ts";
import { installEngine } from "./engines/install.ts";
import { installedEngines, type ListedEngine, removeInstalled } from "./engines/installed-engines.ts";
import { officialRelease } from "./engines/official-release.ts";
import { reportOf } from "./engines/report-of-engine.ts";
import { orPrintError } from "./print-error.ts";
import { remoteOptions } from "./remote-address.ts";

type Action = (input: CommandInput) => Promise<number>;

const actions: Readonly<Record<string, Action>> = { install, list, remove };

export const enginesCommand: Command = {
  usage: "engines [install|list|remove]",
  about:
    "List the available engines, newest first, with their options; or install a native engine, list the installed ones, or remove one.",
  options: {
    from: {
      type: "string",
      value: "<file>",
      about: "install: this file or address instead of the official one",
    },
    sha256: {
      type: "string",
      value: "<hex>",
      about: "install: the SHA-256 digest of the file; --from needs it",
    },
    yes: {
      type: "boolean",
      about: "install: accept the digest that the release names, if Kibitz knows none",
    },
    json: {
      type: "boolean",
      about: "print the answer of GET /engines, or each installed engine, as one line of JSON",
    },
    ...remoteOptions,
  },
  notes: [
    "With --url, lists the engines of a running service.",
    `install [stockfish] loads the official build of ${officialRelease.name} for this machine from GitHub, checks its digest, tries it in its sandbox, and installs it: for all users if root runs the command, otherwise for the current user.`,
    "--from may be a tar archive (also with gzip) or the engine itself, at an address with https or http, or on this machine.",
    "list shows the id, version, file and SHA-256 digest of each installed engine; remove <id> deletes one.",
    "An engine on the PATH comes before an installed one of the same id. With KIBITZ_NATIVE_ENGINES, installed engines are not used.",
  ],
  async run(input) {
    const [name] = input.positionals;
    if (name === undefined) {
      onlyFor("install", input, ["from", "sha256", "yes"]);
      return listAvailable(input);
    }
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (action === undefined) {
      throw new UsageError(`give one of ${Object.keys(actions).join(", ")}, or nothing`);
    }
    onlyFor("the list of a running service", input, ["url", "key"]);
    if (action !== install) {
      onlyFor("install", input, ["from", "sha256", "yes"]);
    }
    return action(input);
  },
};

function onlyFor(what: string, { values }: CommandInput, options: readonly string[]): void {
  const given = options.find((option) => values[option] !== undefined);
  if (given !== undefined) {
    throw new UsageError(`--${given} is only for ${what}`);
  }
}

async function listAvailable(input: CommandInput): Promise<number> {
  const { values, signal, host } = input;
  return orPrintError(input, async () => {
    await using service = await ask(input);
    const list = await createClient(AnalysisService, service.transport).listEngines({}, { signal });
    const write = createMessageWriter(ListEnginesResponseSchema);
    host.stdout.write(
      values.json ? `${withoutControls(write(list))}\n` : list.engines.map(reportOf).join(""),
    );
    return exitCode.ok;
  });
}

async function install(input: CommandInput): Promise<number> {
  const [, engine = "stockfish", ...more] = input.positionals;
  if (engine !== "stockfish" || more.length > 0) {
    throw new UsageError("install knows only stockfish; name other engines in KIBITZ_NATIVE_ENGINES");
  }
  const installed = await installEngine(input, loadConfig(input.host.env));
  const { id, path, sha256 } = installed;
  const text = `${id} is installed: ${path}\nsha256 ${sha256}\n`;
  input.host.stdout.write(input.values.json ? lineOf(installed) : text);
  return exitCode.ok;
}

async function list({ values, positionals, host }: CommandInput): Promise<number> {
  if (positionals.length > 1) {
    throw new UsageError("list takes no arguments");
  }
  const engines = await installedEngines(loadConfig(host.env));
  if (values.json) {
    host.stdout.write(engines.map(lineOf).join(""));
    return exitCode.ok;
  }
  const rows = engines.map(({ id, version, path, sha256 }) => [
    id,
    version,
    path,
    sha256 ?? "cannot be read",
  ]);
  host.stdout.write(
    columns([["ID", "VERSION", "FILE", "SHA256"], ...rows])
      .map((line) => `${withoutControls(line)}\n`)
      .join(""),
  );
  return exitCode.ok;
}

async function remove({ positionals, host }: CommandInput): Promise<number> {
  const [, id, ...more] = positionals;
  if (id === undefined || more.length > 0) {
    throw new UsageError("remove needs the id of an installed engine");
  }
  for await (const file of removeInstalled(id, loadConfig(host.env))) {
    host.stdout.write(`deleted ${withoutControls(file)}\n`);
  }
  host.stderr.write("Restart a server that runs: it still uses the deleted engine.\n");
  return exitCode.ok;
}

function lineOf({ id, version, path, sha256 }: ListedEngine): string {
  return `${withoutControls(JSON.stringify({ id, version, path, sha256 }))}\n`;
}
