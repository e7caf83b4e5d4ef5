import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { deserializeMessage, serializeMessage, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Plain } from "./caller.ts";
import { invalidRequest, notJson, refusalOfLongId, refusedAnswer } from "./refusals.ts";
import { createServer, type Peer } from "./server.ts";

interface StdioOptions {
  readonly input: Readable;
  /** Gets messages of the protocol, one a line, and nothing else. */
  readonly output: Writable;
  readonly peer: Peer;
  /** The version of Kibitz. */
  readonly version: string;
  /** Reports lines that are no message, and failures of the connection. */
  readonly onError: (error: Error) => void;
}

/** The longest line, in bytes: as the longest message over HTTP. */
const lineMaxBytes = 512 * 1024;

/**
 * Serves one client, in the version of the specification of its first message.
 *
 * @returns `close` cancels the calls under way, and sends nothing more. `closed` resolves when the connection has ended: by `close`, or
 * because its output has failed. The end of its input does not end it.
 */
export function openStdio({ input, output, peer, version, onError }: StdioOptions) {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const transport = createTransport(input, output, onError, resolve);
  const served = serveStdio(() => createServer(peer, version), { transport, onerror: onError });
  return { closed, close: () => served.close() };
}

/**
 * Messages, one a line. Unlike the transport of the SDK, it answers a line that is no message, and goes on after a line that is too long.
 */
function createTransport(
  input: Readable,
  output: Writable,
  onError: (error: Error) => void,
  onClosed: () => void,
): Transport {
  const decoder = new TextDecoder();
  /** The line that has begun, up to the first character too many. */
  let begun = "";

  function take(chunk: Buffer): void {
    const lines = (begun + decoder.decode(chunk, { stream: true })).split("\n");
    begun = (lines.pop() ?? "").slice(0, lineMaxBytes + 1);
    for (const line of lines.filter((line) => line.trim() !== "")) {
      const refused = read(line);
      if (refused) {
        output.write(`${JSON.stringify(refused)}\n`);
        onError(new Error(refused.error.message));
      }
    }
  }

  /** @returns the answer to a line that is refused */
  function read(line: string): ReturnType<typeof refusalOfLongId> {
    if (Buffer.byteLength(line) > lineMaxBytes) {
      const text = `A message is longer than ${lineMaxBytes} bytes, and is not read: send one position or game at a time.`;
      return refusedAnswer(invalidRequest, text);
    }
    try {
      const message = deserializeMessage(line);
      const refused = refusalOfLongId(message as unknown as Plain);
      if (refused === undefined) {
        transport.onmessage?.(message);
      }
      return refused;
    } catch (thrown) {
      return thrown instanceof SyntaxError
        ? refusedAnswer(notJson, "A line is not JSON: each message is one line of it.")
        : refusedAnswer(
            invalidRequest,
            'A line is no message of JSON-RPC: it has "jsonrpc": "2.0" and a method, and is no batch.',
          );
    }
  }

  let isClosed = false;
  const transport: Transport = {
    async start() {
      input.on("data", take).on("error", onError);
      output.on("error", (error) => {
        onError(error);
        void transport.close();
      });
    },
    async send(message) {
      if (!isClosed && !output.write(serializeMessage(message))) {
        await once(output, "drain");
      }
    },
    async close() {
      if (isClosed) {
        return;
      }
      isClosed = true;
      // A process would go on for as long as its input is read.
      input.off("data", take).pause();
      onClosed();
      transport.onclose?.();
    },
  };
  return transport;
}
