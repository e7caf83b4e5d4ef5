import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** The numbers of the HTTP/2 frame types (RFC 9113). The tests send invalid frames, which client libraries cannot send. */

export const frameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const flag = { endStream: 1, ack: 1, endHeaders: 4 } as const;

const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Encodes a header block without compression: every field is a literal without indexing (RFC 7541 section 6.2.2). */
export function headerBlock(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]));
}

/** Encodes a string literal without Huffman coding (RFC 7541 section 5.2). */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const length: number[] = [];
  if (bytes.length < 127) {
    length.push(bytes.length);
  } else {
    length.push(127);
    let rest = bytes.length - 127;
    for (; rest >= 128; rest = Math.floor(rest / 128)) {
      length.push((rest % 128) + 128);
    }
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}

export function requestFields(
  method: string,
  path: string,
  more: Readonly<Record<string, string>> = {},
): readonly (readonly [string, string])[] {
  return [
    [":method", method],
    [":scheme", "http"],
    [":path", path],
    [":authority", "x"],
    ...Object.entries(more),
  ];
}

export interface FrameClient {
  readonly socket: Socket;
  readonly frames: readonly {
    readonly type: number;
    readonly flags: number;
    readonly stream: number;
    readonly payload: Buffer;
  }[];
  readonly closed: Promise<void>;
  /** Resolves with `true` when the socket accepts more data. Resolves with `false` when the socket is closed. */
  send(...frames: readonly Uint8Array[]): Promise<boolean>;
}

/**
 * Opens an HTTP/2 connection.
 * @param settings pairs of a setting id and a value: `[[4, 0]]` sets the initial window size to 0
 */
export async function openFrames(
  port: number,
  settings: readonly (readonly [id: number, value: number])[] = [],
): Promise<FrameClient> {
  const socket = connect(port, "127.0.0.1");
  const frames: { type: number; flags: number; stream: number; payload: Buffer }[] = [];
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      frames.push({
        type: rest.readUInt8(3),
        flags: rest.readUInt8(4),
        stream: rest.readUInt32BE(5) & 0x7fffffff,
        payload: rest.subarray(9, end),
      });
      rest = rest.subarray(end);
    }
  });
  // After a connection reset, the field `closed` resolves.
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  const values = settings.map(([id, value]) => Buffer.concat([Buffer.of(0, id), uint32(value)]));
  socket.write(Buffer.concat([preface, frame(frameType.settings, 0, 0, Buffer.concat(values))]));
  return {
    socket,
    frames,
    closed,
    async send(...all) {
      if (socket.closed || !socket.writable) {
        return false;
      }
      if (!socket.write(Buffer.concat(all))) {
        await new Promise<void>((resolve) => {
          socket.once("drain", resolve);
          void closed.then(resolve);
        });
      }
      return !socket.closed;
    },
  };
}
