import { once } from "node:events";
import { Writable } from "node:stream";
import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  Message,
  MessageInitShape,
} from "@bufbuild/protobuf";
import type { Transport } from "@connectrpc/connect";
import manifest from "../../package.json" with { type: "json" };
import { fromThisProcess } from "../calls/call.ts";
import type { Calls } from "../calls/create-calls.ts";
import { createRulebook } from "../calls/rulebook.ts";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { type Answerers, createCaller } from "../protocols/mcp/caller.ts";
import { createPlainCalls } from "../protocols/mcp/plain-calls.ts";
import type { Peer } from "../protocols/mcp/server.ts";
import { withoutControls } from "../text/controls.ts";
import { createTimeSlicer } from "../thread/time-slices.ts";
import { ConfigError } from "../wiring/config.ts";
import { ask } from "./ask.ts";
import { type Command, type CommandInput, exitCode } from "./command.ts";
import { remoteOptions } from "./remote-address.ts";
import { UnreachableError } from "./remote-error.ts";
import type { Target } from "./target.ts";

export const mcpCommand: Command = {
  usage: "mcp",
  about: "Speak the Model Context Protocol on standard input and output: chess for language models.",
  options: { ...remoteOptions },
  notes: [
    "Register `kibitz mcp` as an MCP server in your agent. Its tools analyze positions, compare moves, review games and play moves by the rules. Standard output carries only messages of the protocol.",
    "With --url, a running service searches; agents that speak HTTP can call its POST /mcp themselves.",
  ],
  run: speak,
};

async function speak(input: CommandInput): Promise<number> {
  const { signal, host } = input;
  await using service = await ask(input, { stores: true });
  const { openStdio } = await import("../protocols/mcp/stdio.ts");
  const complain = (error: Error) => void host.stderr.write(`kibitz: ${withoutControls(error.message)}\n`);
  const left = once(host.stdin, "close");
  const connection = openStdio({
    input: host.stdin,
    output: new Writable({
      decodeStrings: false,
      write(message, _encoding, done) {
        try {
          // Escape control characters. The meaning of the JSON text does not change.
          if (host.stdout.write(`${withoutControls(String(message).trimEnd())}\n`) === false) {
            host.stdout.once("drain", () => done());
          } else {
            done();
          }
        } catch (thrown) {
          done(thrown instanceof Error ? thrown : new Error(String(thrown)));
        }
      },
    }),
    peer: peerOf(answerersOf(service), signal, complain),
    version: manifest.version,
    onError: complain,
  });
  const broken = connection.failed.then(() => "broken" as const);
  // When the input ends, the calls in flight are still answered. An input that closes before its end has failed.
  const ended = host.stdin.readableEnded ? Promise.resolve() : once(host.stdin, "end");
  const finished = ended.then(() => connection.finished);
  const cut = left.then(() => (host.stdin.readableEnded ? finished : undefined));
  const how = await Promise.race([finished, cut, once(signal, "abort"), broken]);
  await connection.close();
  if (how === "broken") {
    complain(new Error("the connection has ended by itself: start kibitz mcp again"));
    return exitCode.failure;
  }
  return signal.aborted ? exitCode.interrupted : exitCode.ok;
}

function peerOf(answerers: Answerers, left: AbortSignal, complain: (error: Error) => void): Peer {
  return {
    left,
    hold: () => new DisposableStack(),
    callerFor: (signal) => createCaller({ ...answerers, context: fromThisProcess(signal) }),
    async refused(error) {
      const { code, cause } = error;
      if (code === "internal") {
        complain(cause instanceof Error ? cause : errorFromUnknown(error));
      }
    },
  };
}

/** This process answers calls about the rules of chess even with `--url`, because these calls need no engine. */
function answerersOf({ transport, validate }: Target): Answerers {
  return {
    plain: createPlainCalls({
      calls: callsOver(transport),
      validate: async (message, method) => {
        try {
          await validate(message, method);
        } catch (thrown) {
          throw readable(thrown);
        }
      },
    }),
    rulebook: createRulebook({
      beginWork: createTimeSlicer(),
      charge: { async withoutSearch() {}, async refuseUsedUp() {} },
    }),
  };
}

function callsOver(transport: Transport): Calls {
  return {
    unary:
      (unary) =>
      async (message, { signal }) => {
        const method = unary as DescMethodUnary;
        const input = message as MessageInitShape<typeof method.input>;
        try {
          return (await transport.unary(method, signal, undefined, undefined, input)).message;
        } catch (thrown) {
          throw readable(thrown);
        }
      },
    stream: (stream) =>
      async function* (message, { signal }) {
        const method = stream as DescMethodServerStreaming;
        // Abort the call if the reader stops reading, because the transport does not notice this.
        const left = new AbortController();
        const either = AbortSignal.any([signal, left.signal]);
        try {
          const answer = await transport.stream(method, either, undefined, undefined, onlyOne(message));
          yield* answer.message;
        } catch (thrown) {
          throw readable(thrown);
        } finally {
          left.abort(new Error("the reader left"));
        }
      },
  };
}

async function* onlyOne(message: Message): AsyncGenerator<Message> {
  yield message;
}

/** Makes a connection error or configuration error visible to the language model, because the user can fix the cause. */
function readable(thrown: unknown): unknown {
  return thrown instanceof UnreachableError || thrown instanceof ConfigError
    ? new KibitzError("internal", thrown.message, { cause: thrown })
    : thrown;
}
