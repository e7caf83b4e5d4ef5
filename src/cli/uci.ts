import { once } from "node:events";
import { createInterface } from "node:readline";
import { withoutControls } from "../text/controls.ts";
import { type Command, type CommandInput, exitCode } from "./command.ts";
import { engineChoice } from "./engine-choice.ts";
import { readKnownGreeting } from "./known-greeting.ts";
import { remoteAddressOf, remoteOptions } from "./remote-address.ts";
import { createLineBuffer } from "./uci/line-buffer.ts";

export const uciCommand: Command = {
  usage: "uci",
  about: "Speak UCI on standard input and output: Kibitz as the engine of any chess program.",
  options: { ...engineChoice, ...remoteOptions },
  notes: [
    "Register `kibitz uci` as an engine in your chess program. It knows every command of the protocol, and `go` with every limit. Scores are from the side to move, as UCI defines them.",
    "A limit outside the bounds of a search is moved to the nearest value, and an info string says so.",
    "With --url, a running service searches, over Connect.",
  ],
  async run(input) {
    // Remove line breaks, because a chess program would read the next line as another command.
    const say = (line: string) => void input.host.stdout.write(`${withoutControls(line)}\n`);
    try {
      return await speak(input, say);
    } catch (error) {
      // Print an info string, because chess programs do not show standard error.
      say(`info string ${error instanceof Error ? error.message : String(error)}`);
      const { orPrintError } = await import("./print-error.ts");
      return orPrintError(input, () => Promise.reject(error));
    }
  },
};

/** Answers `uci` before the search modules are imported, because match programs wait only a few seconds for `uciok`. */
async function speak(input: CommandInput, say: (line: string) => void): Promise<number> {
  const known = remoteAddressOf(input) ? undefined : await readKnownGreeting(input);
  const left = new AbortController();
  const signal = AbortSignal.any([input.signal, left.signal]);
  const lines = createLineBuffer({
    greeting: known?.lines,
    say,
    onLeft: () => left.abort(new Error("the chess program has left")),
  });
  using stdin = createInterface({ input: input.host.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  stdin.on("line", lines.receive);
  stdin.on("close", lines.close);
  try {
    if (known?.lines !== undefined) {
      await Promise.race([lines.begun, once(signal, "abort")]);
    }
    signal.throwIfAborted();
    const { converse } = await import("./uci-conversation.ts");
    const onGreeting = async (greeting: readonly string[]) => {
      if (greeting.join() !== known?.lines?.join()) {
        await known?.keep(greeting);
      }
    };
    await converse({ input: { ...input, signal }, lines, say, onGreeting });
  } catch (error) {
    if (!left.signal.aborted) {
      throw error;
    }
  }
  return input.signal.aborted ? exitCode.interrupted : exitCode.ok;
}
