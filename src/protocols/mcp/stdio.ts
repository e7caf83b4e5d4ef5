import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { deserializeMessage, serializeMessage, type Transport } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Plain } from "./caller.ts";
import { invalidRequest, notJson, type RefusedMessage, refusalOfLongId, refusedAnswer } from "./refusals.ts";
import { createServer, type Peer } from "./server.ts";

/** A connection by standard input and output. */
interface StdioConnection {
  /** Resolves when the connection has ended: by {@link close}, or because its output has failed. The end of its input does not end it. */
  readonly closed: Promise<void>;
  /** Cancels the calls under way, and sends nothing more. */
  close(): Promise<void>;
}

export interface StdioOptions {
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

/** Serves one client, in the version of the specification of its first message. */
export function openStdio({ input, output, peer, version, onError }: StdioOptions): StdioConnection {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const transport = createTransport(input, output, onError, resolve);
  const connected = { ...peer, isBehind: () => output.writableNeedDrain };
  const served = serveStdio(() => createServer(connected, version), { transport, onerror: onError });
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
  let parts: Buffer[] = [];
  let bytes = 0;

  function refuse(refused: RefusedMessage): void {
    output.write(`${JSON.stringify(refusedAnswer(refused))}\n`);
    onError(new Error(refused.text));
  }

  /** Keeps a part of a line. Of a line that is too long, nothing is kept. */
  function keep(part: Buffer): void {
    const wasShort = bytes <= lineMaxBytes;
    bytes += part.length;
    if (bytes <= lineMaxBytes) {
      parts.push(part);
    } else if (wasShort) {
      parts = [];
      const text = `A message is longer than ${lineMaxBytes} bytes, and is not read: send one position or game at a time.`;
      refuse({ code: invalidRequest, text });
    }
  }

  function read(line: string): void {
    if (line.trim() === "") {
      return;
    }
    try {
      const message = deserializeMessage(line);
      const refused = refusalOfLongId(message as unknown as Plain);
      if (refused) {
        refuse(refused);
      } else {
        transport.onmessage?.(message);
      }
    } catch (thrown) {
      refuse(
        thrown instanceof SyntaxError
          ? { code: notJson, text: "A line is not JSON: each message is one line of it." }
          : {
              code: invalidRequest,
              text: 'A line is no message of JSON-RPC: it has "jsonrpc": "2.0" and a method, and is no batch.',
            },
      );
    }
  }

  function take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
      keep(chunk.subarray(from, end));
      const line = Buffer.concat(parts).toString();
      parts = [];
      bytes = 0;
      from = end + 1;
      read(line);
    }
    keep(chunk.subarray(from));
  }

  function fail(error: Error): void {
    onError(error);
    void transport.close();
  }

  let isClosed = false;
  const transport: Transport = {
    async start() {
      input.on("data", take).on("error", onError);
      output.on("error", fail);
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
