import { gzipSync } from "node:zlib";

/**
 * Makes a network for Lc0 with random weights, which plays badly but legally. The same seed makes the same network. The format
 * is the protobuf message `Net` of Lc0 with a small convolutional network.
 */
export function randomNetwork(seed: number, filters = 16): Buffer {
  const random = randomFrom(seed);
  const layer = (count: number) => {
    const values = Buffer.alloc(2 * count);
    for (let at = 0; at < count; at++) {
      values.writeUInt16LE(Math.floor(random() * 65_536), 2 * at);
    }
    return message(float(1, -0.1), float(2, 0.1), bytes(3, values));
  };
  const convolution = (inputs: number, outputs: number, size: number) =>
    message(bytes(1, layer(outputs * inputs * size * size)), bytes(2, layer(outputs)));
  const residual = message(
    bytes(1, convolution(filters, filters, 3)),
    bytes(2, convolution(filters, filters, 3)),
  );
  const headPlanes = 4;
  const squares = 64;
  const hidden = 32;
  const weights = message(
    bytes(1, convolution(inputPlanes, filters, 3)),
    bytes(2, residual),
    bytes(3, convolution(filters, headPlanes, 1)),
    bytes(4, layer(moves * headPlanes * squares)),
    bytes(5, layer(moves)),
    bytes(6, convolution(filters, headPlanes, 1)),
    bytes(7, layer(hidden * headPlanes * squares)),
    bytes(8, layer(hidden)),
    bytes(9, layer(3 * hidden)),
    bytes(10, layer(3)),
  );
  // Classical input, WDL output, a convolutional network with head formats, a classical policy and a WDL value.
  const format = message(varint(1, 1), varint(2, 2), varint(3, 3), varint(4, 1), varint(5, 2));
  const version = message(varint(1, 0), varint(2, 25), varint(3, 0));
  return gzipSync(
    message(
      fixed32(1, 0x1c0),
      bytes(3, version),
      bytes(4, message(varint(1, 1), bytes(2, format))),
      bytes(10, weights),
    ),
  );
}

const inputPlanes = 112;
/** The number of moves that the policy of Lc0 can name. */
const moves = 1858;

function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  // The generator mulberry32.
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const message = (...fields: readonly Buffer[]) => Buffer.concat(fields);
const tag = (field: number, wireType: number) => number((field << 3) | wireType);
const varint = (field: number, value: number) => message(tag(field, 0), number(value));
const bytes = (field: number, value: Buffer) => message(tag(field, 2), number(value.length), value);

function number(value: number): Buffer {
  const groups: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) {
    groups.push((rest % 128) + 128);
  }
  return Buffer.from([...groups, rest]);
}

function fixed32(field: number, value: number): Buffer {
  const content = Buffer.alloc(4);
  content.writeUInt32LE(value);
  return message(tag(field, 5), content);
}

function float(field: number, value: number): Buffer {
  const content = Buffer.alloc(4);
  content.writeFloatLE(value);
  return message(tag(field, 5), content);
}
