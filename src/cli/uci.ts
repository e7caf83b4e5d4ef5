import { once } from "node:events";
import { createInterface } from "node:readline";
import { createClient } from "@connectrpc/connect";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import manifest from "../../package.json" with { type: "json" };
import { withoutControls } from "../text/plain-text.ts";
import { ask } from "./ask.ts";
import { type Command, type CommandInput, exitCode } from "./command.ts";
import { engineOptionsOf } from "./engine-option.ts";
import { orPrintError } from "./print-error.ts";
import { remoteOptions } from "./remote-address.ts";
import { readRequestOfMany, searchOptions } from "./request-from-input.ts";
import { chooseEngine } from "./uci/choose-engine.ts";
import { createSession } from "./uci/session.ts";

const { engine, path } = searchOptions;

/**
 * The defaults of `Move Overhead` in milliseconds: the way between this process and a chess program, and a busy moment; with `--url` also
 * the network and the service.
 */
const localOverheadMs = 30;
const remoteOverheadMs = 150;

export const uciCommand: Command = {
  usage: "uci",
  about: "Speak UCI on standard input and output: Kibitz as the engine of any chess program.",
  options: { engine, path, ...remoteOptions },
  notes: [
    "Give a chess program this command as that of an engine. It knows every command of the protocol, and go with every limit. Scores are from the point of view of the side to move, as UCI wants them.",
    "A limit outside the bounds of a search is moved to the nearest value, and an info string says so.",
    "With --url, a running service searches, over Connect.",
  ],
  run: (input) => orPrintError(input, () => speak(input)),
};

async function speak(input: CommandInput): Promise<number> {
  const { signal, host } = input;
  // A chess program would read a line of a service's text as a command.
  const say = (line: string) => void host.stdout.write(`${withoutControls(line)}\n`);
  const template = readRequestOfMany(input);
  // One search runs at a time. With a second slot, the next search would start an engine while the last one still stops.
  await using service = await ask(input, { settings: { KIBITZ_SLOTS: "1" } });
  const { listEngines, streamEvaluate } = createClient(AnalysisService, service.transport);
  try {
    const { engines } = await listEngines({}, { signal });
    const engine = chooseEngine(engines, template);
    const session = createSession({
      engine: {
        name: service.host === undefined ? engine.name : `${engine.name} at ${service.host}`,
        author: engine.author,
        options: engineOptionsOf(engine),
      },
      watch: (request, signal) => streamEvaluate({ ...template, ...request }, { signal }),
      say,
      version: manifest.version,
      overheadMs: service.host === undefined ? localOverheadMs : remoteOverheadMs,
    });
    // Commands that came before the engine was known wait in the stream.
    using lines = createInterface({ input: host.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    lines.on("line", session.receive);
    lines.on("close", session.close);
    await Promise.race([session.over, once(signal, "abort")]);
    return signal.aborted ? exitCode.interrupted : exitCode.ok;
  } catch (error) {
    // Chess programs show info strings, but not standard error.
    say(`info string ${error instanceof Error ? error.message : String(error)}`);
    throw error;
  }
}
