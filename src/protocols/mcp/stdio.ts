import { isUtf8 } from "node:buffer";
import { type Readable, Transform, type Writable } from "node:stream";
import { deserializeMessage } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Plain } from "../../text/json.ts";
import { wellFormedJson } from "../../text/json.ts";
import { type Batch, createOpenRequests } from "./open-requests.ts";
import {
  batchVersion,
  idOf,
  invalidRequest,
  notJson,
  refusalOfBatch,
  refusalOfLongId,
  refusedAnswer,
} from "./refusals.ts";
import { createServer, type Peer } from "./server.ts";
import { tidyMessage } from "./tidy-message.ts";

interface StdioOptions {
  readonly input: Readable;
  /** Only messages of the protocol may be written to this stream, one message or batch per line. */
  readonly output: Writable;
  readonly peer: Peer;
  readonly version: string;
  /** Called for each line that is not a message, and for each failure of the connection. */
  readonly onError: (error: Error) => void;
}

/**
 * Serves one client. `close` cancels the calls in flight. `failed` resolves if the output cannot be written. `finished` resolves
 * when the input has ended and every request is answered.
 */
export function openStdio({ input, output, peer, version, onError }: StdioOptions) {
  const { promise: failed, resolve: fail } = Promise.withResolvers<void>();
  const { promise: inputRead, resolve: endInput } = Promise.withResolvers<void>();
  /** The version that the client and the server have agreed on. Only one version has batches. */
  let agreedVersion: unknown;

  const write = (answer: object) => {
    output.write(`${JSON.stringify(answer)}\n`);
  };
  const requests = createOpenRequests(write);
  const refuse = (refused: Refused, batch?: Batch) => {
    onError(new Error(refused.error.message));
    if (batch) {
      batch.answers.push(refused);
    } else {
      write(refused);
    }
  };
  /** Returns the text of a message for the SDK. Refuses an invalid message, and returns undefined. */
  const accept = (sent: unknown, batch?: Batch) => {
    const message = readMessage(sent);
    if ("error" in message) {
      refuse(message, batch);
      return undefined;
    }
    requests.received(message.sent, batch);
    return message.text;
  };
  const acceptLine = (line: Buffer): readonly string[] => {
    const sent = readLine(line);
    if ("error" in sent) {
      refuse(sent as Refused);
      return [];
    }
    if (!Array.isArray(sent.value)) {
      return [accept(sent.value)].filter((text) => text !== undefined);
    }
    const refused = refusalOfBatch(sent.value, agreedVersion);
    if (refused) {
      refuse(refused);
      return [];
    }
    const messages: readonly unknown[] = sent.value;
    return requests.receiveBatch((batch) =>
      messages.map((one) => accept(one, batch)).filter((text) => text !== undefined),
    );
  };

  const messages = messagesOnly(acceptLine);
  // Stop reading the input. Otherwise the process would not end.
  const leave = () => input.unpipe(messages);
  // The SDK cancels the calls in flight when its input ends, so its input stays open. The line break ends the last line.
  input.on("error", onError).pipe(messages, { end: false });
  input.once("end", () => messages.write("\n", () => endInput()));
  output.on("error", () => {
    leave();
    fail();
  });
  const transport = new StdioServerTransport(messages, output);
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    agreedVersion = versionIn(message) ?? agreedVersion;
    if (!requests.answered(message)) {
      await send(message);
    }
  };
  const served = serveStdio(() => createServer(peer, version), { transport, onerror: onError });
  return {
    failed,
    finished: inputRead.then(() => requests.allAnswered()),
    close() {
      leave();
      return served.close();
    },
  };
}

type Refused = ReturnType<typeof refusedAnswer>;

/** The version in the answer to `initialize`. */
function versionIn(message: object): unknown {
  return (Object((message as Plain).result) as Plain).protocolVersion;
}

/** The maximum length of a line in bytes. A message over HTTP has the same maximum. */
const lineMaxBytes = 512 * 1024;

/** More parts of a line are joined, because a part of one byte needs a hundred bytes of memory. */
const partsMax = 1024;

const lineFeed = 0x0a;

/** Passes on the texts that `accept` returns for each line. The SDK would end the connection at an invalid or too long line. */
function messagesOnly(accept: (line: Buffer) => readonly string[]): Transform {
  /** The beginning of the last line, with at most one byte more than the maximum length. */
  let parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer) => {
    // Copy the part, because it can be a small piece of a long chunk.
    const kept = Buffer.from(part.subarray(0, lineMaxBytes + 1 - length));
    if (kept.length > 0) {
      parts.push(kept);
      length += kept.length;
      if (parts.length === partsMax) {
        parts = [Buffer.concat(parts)];
      }
    }
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0;
      for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
        add(chunk.subarray(start, end));
        start = end + 1;
        const line = Buffer.concat(parts);
        parts = [];
        length = 0;
        for (const text of line.every(isBlank) ? [] : accept(line)) {
          this.push(`${text}\n`);
        }
      }
      add(chunk.subarray(start));
      done();
    },
  });
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

/** Returns the JSON value of a line, or the answer that rejects the line. */
function readLine(line: Buffer): { readonly value: unknown } | Refused {
  if (line.length > lineMaxBytes) {
    const text = `A message is longer than ${lineMaxBytes} bytes, and is not read: send one position or game at a time.`;
    return refusedAnswer(invalidRequest, text);
  }
  if (!isUtf8(line)) {
    return refusedAnswer(notJson, "A line is not valid UTF-8.");
  }
  try {
    return { value: JSON.parse(wellFormedJson(line.toString())) };
  } catch {
    return refusedAnswer(notJson, "A line is not JSON: each message is one line of it.");
  }
}

/** Returns the message and its text for the SDK, or the answer that rejects the message. */
function readMessage(value: unknown): { readonly sent: Plain; readonly text: string } | Refused {
  try {
    const refused = refusalOfLongId(Object(value));
    if (refused) {
      return refused;
    }
    const text = JSON.stringify(tidyMessage(value));
    // Throws an error if the value is no message of JSON-RPC.
    return { sent: deserializeMessage(text) as unknown as Plain, text };
  } catch {
    const text = `A line is no message of JSON-RPC: it has "jsonrpc": "2.0" and a method, and is a batch only in the version ${batchVersion}.`;
    return refusedAnswer(invalidRequest, text, idOf(value));
  }
}
