import { type Readable, Transform, type Writable } from "node:stream";
import { deserializeMessage } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { idOf, invalidRequest, notJson, refusalOfLongId, refusedAnswer } from "./refusals.ts";
import { createServer, type Peer } from "./server.ts";
import { tidyMessage } from "./tidy-message.ts";

interface StdioOptions {
  readonly input: Readable;
  /** Only messages of the protocol may be written to this stream, one message per line. */
  readonly output: Writable;
  readonly peer: Peer;
  readonly version: string;
  /** Called for each line that is not a message, and for each failure of the connection. */
  readonly onError: (error: Error) => void;
}

/** Serves one client. `close` cancels the calls in flight. `failed` resolves if the output cannot be written. */
export function openStdio({ input, output, peer, version, onError }: StdioOptions) {
  const { promise: failed, resolve } = Promise.withResolvers<void>();
  const messages = messagesOnly((refused) => {
    output.write(`${JSON.stringify(refused)}\n`);
    onError(new Error(refused.error.message));
  });
  // Stop reading the input. Otherwise the process would not end.
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

/** The maximum length of a line in bytes. A message over HTTP has the same maximum. */
const lineMaxBytes = 512 * 1024;

/** Answers an invalid or too long line with an error. The SDK would ignore the line, or would end the connection. */
function messagesOnly(refuse: (refused: Refused) => void): Transform {
  const decoder = new TextDecoder();
  /** The incomplete last line. It has at most one character more than the maximum length. */
  let incompleteLine = "";
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (incompleteLine + decoder.decode(chunk, { stream: true })).split("\n");
      incompleteLine = (lines.pop() ?? "").slice(0, lineMaxBytes + 1);
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

/** Returns the message, or the answer that rejects a line without a valid message. */
function readLine(line: string): string | Refused {
  if (Buffer.byteLength(line) > lineMaxBytes) {
    const text = `A message is longer than ${lineMaxBytes} bytes, and is not read: send one position or game at a time.`;
    return refusedAnswer(invalidRequest, text);
  }
  let id: string | number | null = null;
  try {
    const sent: unknown = JSON.parse(line);
    id = idOf(sent);
    const refused = refusalOfLongId(Object(sent));
    if (refused) {
      return refused;
    }
    const message = JSON.stringify(tidyMessage(sent));
    // Throws an error if the line is no message of JSON-RPC.
    deserializeMessage(message);
    return message;
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
