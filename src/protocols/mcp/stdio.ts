import type { Readable, Writable } from "node:stream";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Plain } from "./caller.ts";
import { createLineGuard } from "./line-guard.ts";
import { invalidRequest, notJson, type RefusedMessage, refusalOfLongId, refusedAnswer } from "./refusals.ts";
import { createServer, type Peer } from "./server.ts";

/** A connection by standard input and output. */
export interface StdioConnection {
  /** Resolves when it is closed, by whomever. */
  readonly closed: Promise<void>;
  /** Cancels what is under way, and sends nothing more. */
  close(): Promise<void>;
}

export interface StdioOptions {
  readonly input: Readable;
  /** Gets messages of the protocol, a line each, and nothing else. */
  readonly output: Writable;
  readonly peer: Peer;
  /** Of Kibitz. */
  readonly version: string;
  /** Told of what is no message. */
  readonly onError: (error: Error) => void;
}

/** As long as the longest message over HTTP: what is longer is refused unread. */
const messageMaxBytes = 512 * 1024;

/** Serves one client, in the era of the specification that its first message is of. */
export function openStdio({ input, output, peer, version, onError }: StdioOptions): StdioConnection {
  function refuse(refused: RefusedMessage): void {
    output.write(`${JSON.stringify(refusedAnswer(refused))}\n`);
    onError(new Error(refused.text));
  }
  const messages = createLineGuard({
    maxBytes: messageMaxBytes,
    tooLong() {
      const text = `A message is longer than ${messageMaxBytes} bytes, and is not read: send one position or game at a time.`;
      refuse({ code: invalidRequest, text });
    },
    passes(line) {
      const wrong = wrongWith(line);
      if (wrong !== undefined) {
        refuse(wrong);
      }
      return wrong === undefined && line.trim() !== "";
    },
  });
  const connected = { ...peer, isBehind: () => output.writableNeedDrain };
  const transport = new StdioServerTransport(messages, output);
  const served = serveStdio(() => createServer(connected, version), { transport, onerror: onError });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { onclose } = transport;
  transport.onclose = () => {
    onclose?.();
    resolve();
  };
  input.pipe(messages);
  return {
    closed,
    async close() {
      input.unpipe(messages);
      // A process would go on for as long as its input is read.
      input.pause();
      await served.close();
    },
  };
}

/** Why a line is refused, which the SDK would tell nobody who waits for an answer; nothing of an empty one. */
function wrongWith(line: string): RefusedMessage | undefined {
  if (line.trim() === "") {
    return undefined;
  }
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return { code: notJson, text: "A line is not JSON: each message is one line of it." };
  }
  if (Array.isArray(message)) {
    return { code: invalidRequest, text: "A line is a batch: send each message on a line of its own." };
  }
  const { jsonrpc, method, result, error } = Object(message) as Record<string, unknown>;
  const isMessage = jsonrpc === "2.0" && [method, result, error].some((member) => member !== undefined);
  return isMessage
    ? refusalOfLongId(message as Plain)
    : {
        code: invalidRequest,
        text: 'A line is no message of JSON-RPC: it has "jsonrpc": "2.0" and a method.',
      };
}
