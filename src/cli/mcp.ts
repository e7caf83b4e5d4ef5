import { once } from "node:events";
import { Writable } from "node:stream";
import manifest from "../../package.json" with { type: "json" };
import { fromThisProcess } from "../calls/call.ts";
import { errorFromUnknown } from "../errors/errors.ts";
import { createCaller } from "../protocols/mcp/caller.ts";
import type { Peer } from "../protocols/mcp/server.ts";
import { withoutControls } from "../text/plain-text.ts";
import { type Command, type CommandInput, exitCode, UsageError } from "./command.ts";
import { type OpenedAnswerers, openHere, openThere } from "./mcp/open-answerers.ts";
import { remoteAddressOf, remoteOptions } from "./remote-address.ts";

export const mcpCommand: Command = {
  usage: "mcp",
  about: "Speak the Model Context Protocol on standard input and output: chess for language models.",
  options: { ...remoteOptions },
  notes: [
    "Give an agent this command as that of an MCP server: kibitz mcp. Its tools analyze positions, compare moves,",
    "review games and play moves by the rules. What is no message of the protocol goes to standard error.",
    "With --url, a running service searches; agents that speak HTTP can ask its POST /mcp themselves.",
  ],
  run: speak,
};

async function speak(input: CommandInput): Promise<number> {
  const { positionals, signal, host } = input;
  if (positionals.length > 0) {
    throw new UsageError("mcp takes no arguments: what to do is said on standard input");
  }
  const address = remoteAddressOf(input);
  await using answerers = address ? await openThere(address) : openHere(input);
  const { openStdio } = await import("../protocols/mcp/stdio.ts");
  const complain = (error: Error) => void host.stderr.write(`kibitz: ${withoutControls(error.message)}\n`);
  const left = once(host.stdin, "close");
  const ended = once(host.stdin, "end");
  const connection = openStdio({
    input: host.stdin,
    output: new Writable({
      decodeStrings: false,
      write(message, _encoding, done) {
        try {
          if (host.stdout.write(String(message)) === false) {
            host.stdout.once("drain", () => done());
          } else {
            done();
          }
        } catch (thrown) {
          done(thrown instanceof Error ? thrown : new Error(String(thrown)));
        }
      },
    }),
    peer: peerOf(answerers, signal, complain),
    version: manifest.version,
    onError: complain,
  });
  const broken = connection.failed.then(() => "broken" as const);
  const how = await Promise.race([left, ended, once(signal, "abort"), broken]);
  await connection.close();
  if (how === "broken") {
    complain(new Error("the connection has ended by itself: start kibitz mcp again"));
    return exitCode.failure;
  }
  return signal.aborted ? exitCode.interrupted : exitCode.ok;
}

/** The client that started this process. */
function peerOf(
  { plain, rulebook }: OpenedAnswerers,
  left: AbortSignal,
  complain: (error: Error) => void,
): Peer {
  return {
    left,
    callerFor: (signal) => createCaller({ plain, rulebook, context: fromThisProcess(signal) }),
    async refused(error) {
      const { code, cause } = error;
      if (code === "internal") {
        complain(cause instanceof Error ? cause : errorFromUnknown(error));
      }
    },
  };
}
