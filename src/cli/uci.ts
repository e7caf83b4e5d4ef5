import { once } from "node:events";
import { createInterface } from "node:readline";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import manifest from "../../package.json" with { type: "json" };
import { type Command, type CommandInput, exitCode, UsageError } from "./command.ts";
import { type RemoteAddress, remoteAddressOf, remoteOptions } from "./remote-address.ts";
import { readRequestOfMany, searchOptions } from "./request-from-input.ts";
import { orTellError } from "./tell-error.ts";
import type { Analyst } from "./uci/analyst.ts";
import { createSession } from "./uci/session.ts";

const { engine, path } = searchOptions;

/**
 * The defaults of `Move Overhead` in milliseconds: what passes between this process and a chess program, and a busy
 * moment; with the network, and what a service takes to answer.
 */
const localOverheadMs = 30;
const remoteOverheadMs = 150;

export const uciCommand: Command = {
  usage: "uci",
  about: "Speak UCI on standard input and output: Kibitz as the engine of any chess program.",
  options: { engine, path, ...remoteOptions },
  notes: [
    "Give a chess program this command as that of an engine. It knows every command of the protocol, and go with every",
    "limit. Scores are from the point of view of the side to move, as UCI wants them.",
    "What is outside the bounds of a search is moved to the nearest value, which an info string tells.",
    "With --url, a running service searches, over Connect.",
  ],
  run: (input) => orTellError(input, () => speak(input)),
};

interface Opened extends AsyncDisposable {
  readonly analyst: Analyst;
  readonly overheadMs: number;
}

async function speak(input: CommandInput): Promise<number> {
  const { positionals, signal, host } = input;
  if (positionals.length > 0) {
    throw new UsageError("uci takes no arguments: what to search is said on standard input");
  }
  const template = readRequestOfMany(input);
  const address = remoteAddressOf(input);
  await using opened = address ? await openRemotely(address, template) : await openHere(input, template);
  const session = createSession({
    ...opened,
    say: (line) => void host.stdout.write(`${line}\n`),
    version: manifest.version,
  });
  using lines = createInterface({ input: host.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  lines.on("line", session.receive);
  // Whoever closes the pipe has left.
  lines.on("close", session.quit);
  await Promise.race([session.over, once(signal, "abort")]);
  return signal.aborted ? exitCode.interrupted : exitCode.ok;
}

/** At once: the engine loads while the chess program introduces itself. */
async function openHere({ host, signal, values }: CommandInput, template: AnalysisRequest): Promise<Opened> {
  const [{ openLocal }, { createLocalAnalyst }] = await Promise.all([
    import("./open-local.ts"),
    import("./uci/local-analyst.ts"),
  ]);
  const leaving = new AbortController();
  // There is one search at a time: with one more slot, the next would start an engine while the last one still stops.
  const settings = { KIBITZ_SLOTS: "1" };
  const opening = openLocal(host, AbortSignal.any([signal, leaving.signal]), { settings, values });
  return {
    analyst: createLocalAnalyst(opening, template),
    overheadMs: localOverheadMs,
    async [Symbol.asyncDispose]() {
      leaving.abort();
      // Where it could not be opened, that has been told.
      const local = await opening.catch(() => undefined);
      await local?.[Symbol.asyncDispose]();
    },
  };
}

async function openRemotely(address: RemoteAddress, template: AnalysisRequest): Promise<Opened> {
  const [{ openRemote }, { createRemoteAnalyst }] = await Promise.all([
    import("./open-remote.ts"),
    import("./uci/remote-analyst.ts"),
  ]);
  const remote = openRemote(address);
  return {
    analyst: createRemoteAnalyst(remote, new URL(address.url).host, template),
    overheadMs: remoteOverheadMs,
    async [Symbol.asyncDispose]() {
      remote[Symbol.dispose]();
    },
  };
}
