import { type Readable, Transform, type Writable } from "node:stream";
import { deserializeMessage } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Plain } from "../../text/plain-text.ts";
import { idOf, invalidRequest, notJson, refusalOfLongId, refusedAnswer } from "./refusals.ts";
import { createServer, type Peer } from "./server.ts";
import { tidyMessage } from "./tidy-message.ts";

interface StdioOptions {
  readonly input: Readable;
  /** Nothing but messages of the protocol, one per line, may be written to the output. */
  readonly output: Writable;
  readonly peer: Peer;
  readonly version: string;
  /** Reports lines that are not messages, and failures of the connection. */
  readonly onError: (error: Error) => void;
}

/**
 * Serves one client, in the protocol version of its first message. `close` cancels the calls in flight and sends nothing more.
 * `failed` resolves when the output has failed, which also ends the connection.
 */
export function openStdio({ input, output, peer, version, onError }: StdioOptions) {
  const { promise: failed, resolve } = Promise.withResolvers<void>();
  const messages = messagesOnly((refused) => {
    output.write(`${JSON.stringify(refused)}\n`);
    onError(new Error(refused.error.message));
  });
  // A process does not end as long as its input is read.
  const leave = () => input.unpipe(messages);
  input.on("error", onError).pipe(messages);
  output.on("error", () => {
    leave();
    resolve();
  });
  const transport = new StdioServerTransport(messages, output);
  const served = serveStdio(() => createServer(peer, version), { transport, onerror: onError });
  return {
    failed,
    close() {
      leave();
      return served.close();
    },
  };
}

type Refused = ReturnType<typeof refusedAnswer>;

/** The maximum length of a line in bytes, the same as that of a message over HTTP. */
const lineMaxBytes = 512 * 1024;

/**
 * Passes messages on, and rejects all other lines: the SDK would drop an invalid line without an answer, and would end the
 * connection after a line that is too long.
 */
function messagesOnly(refuse: (refused: Refused) => void): Transform {
  const decoder = new TextDecoder();
  /** The incomplete last line, up to the first character beyond the maximum length. */
  let begun = "";
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (begun + decoder.decode(chunk, { stream: true })).split("\n");
      begun = (lines.pop() ?? "").slice(0, lineMaxBytes + 1);
      for (const line of lines.filter((line) => line.trim() !== "")) {
        const read = readLine(line);
        if (typeof read === "string") {
          this.push(`${read}\n`);
        } else {
          refuse(read);
        }
      }
      done();
    },
  });
}

/** Returns the answer that rejects the line if it is not a message, or its id is too long. */
function readLine(line: string): string | Refused {
  if (Buffer.byteLength(line) > lineMaxBytes) {
    const text = `A message is longer than ${lineMaxBytes} bytes, and is not read: send one position or game at a time.`;
    return refusedAnswer(invalidRequest, text);
  }
  let id: string | number | null = null;
  try {
    const sent: unknown = JSON.parse(line);
    id = idOf(sent);
    const message = JSON.stringify(tidyMessage(sent));
    return refusalOfLongId(deserializeMessage(message) as unknown as Plain) ?? message;
  } catch (thrown) {
    const [code, text] =
      thrown instanceof SyntaxError
        ? [notJson, "A line is not JSON: each message is one line of it."]
        : [
            invalidRequest,
            'A line is no message of JSON-RPC: it has "jsonrpc": "2.0" and a method, and is no batch.',
          ];
    return refusedAnswer(code, text, id);
  }
}
