import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { envelope } from "../support/envelope.ts";
import { flag, frame, frameType, headerBlock, requestFields, uint32 } from "./frames.ts";

export interface StreamFlood {
  readonly port: number;
  readonly addresses: readonly string[];
  readonly connectionsPerAddress: number;
  readonly streams?: number;
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly contentType?: string;
  readonly body?: Uint8Array;
  /** Headers that each need a byte or two on the wire. */
  readonly tinyHeaders?: number;
}

/** A client with a window of nothing never reads an answer. */
const openings = [
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  frame(frameType.settings, 0, 0, Buffer.concat([Buffer.of(0, 4), uint32(0)])),
];

export const emptyGrpc = { contentType: "application/grpc", body: envelope(Buffer.alloc(0)) };

/** Writes an integer with a prefix of seven bits (RFC 7541 section 5.1). */
function indexed(index: number): Buffer {
  return index < 127 ? Buffer.of(0x80 | index) : Buffer.of(0xff, index - 127);
}

/** The bytes of a connection: a burst of calls whose tiny headers are in the table of HPACK after the first call. */
function burstOf({
  streams = 100,
  method = "POST",
  path,
  contentType,
  body,
  tinyHeaders = 0,
}: Omit<StreamFlood, "port" | "addresses" | "connectionsPerAddress">): Buffer {
  const fields = requestFields(method, path, {
    ...(contentType && { "content-type": contentType }),
    ...(contentType === "application/grpc" && { te: "trailers" }),
  });
  const names = Array.from(
    { length: tinyHeaders },
    (_, index) => String.fromCharCode(97 + (index % 26)) + Math.floor(index / 26),
  );
  const first = names.map((name) =>
    Buffer.concat([Buffer.of(0x40, name.length), Buffer.from(name), Buffer.of(0)]),
  );
  // The latest entry of the table has the index 62.
  const later = names.map((_, index) => indexed(62 + index));
  const calls = Array.from({ length: streams }, (_, count) => {
    const block = Buffer.concat([headerBlock(fields), ...(count === 0 ? first : later)]);
    const end = body ? 0 : flag.endStream;
    const head = frame(frameType.headers, flag.endHeaders | end, 2 * count + 1, block);
    return body ? Buffer.concat([head, frame(frameType.data, flag.endStream, 2 * count + 1, body)]) : head;
  });
  return Buffer.concat([...openings, ...calls]);
}

/** Sends a burst over many connections, and reads nothing of the answers. Resolves with a function that closes the connections. */
export async function floodWithStreams({
  port,
  addresses,
  connectionsPerAddress,
  ...call
}: StreamFlood): Promise<() => void> {
  const bytes = burstOf(call);
  const sockets: Socket[] = [];
  for (const localAddress of addresses) {
    for (let count = 0; count < connectionsPerAddress; count++) {
      const socket = connect({ port, host: "127.0.0.1", localAddress });
      socket.on("error", () => {});
      socket.on("connect", () => socket.write(bytes));
      socket.resume();
      sockets.push(socket);
    }
    await sleep(1);
  }
  return () => {
    for (const socket of sockets) {
      socket.destroy();
    }
  };
}
