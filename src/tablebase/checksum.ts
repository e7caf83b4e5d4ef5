/**
 * The checksum at the end of a table: a CityHash of 2011, which differs from later versions of CityHash.
 * Source: `city-c.c` of the generator of the tables (Google, MIT), see README.md.
 */

/** Each chunk is hashed by itself. The last chunk may be smaller. */
export const chunkBytes = 2 ** 24;

const k0 = 0xc3a5c85c97cb3127n;
const k1 = 0xb492b66fbe98f273n;
const k3 = 0xc949d7c7509e6557n;

const u64 = (value: bigint) => BigInt.asUintN(64, value);
const rotate = (value: bigint, shift: bigint) => u64((value >> shift) | (value << (64n - shift)));
const mix = (value: bigint) => value ^ (value >> 47n);

/** CityHash's way to make one number of two. */
function fold(low: bigint, high: bigint): bigint {
  const factor = 0x9ddfea08eb382d69n;
  const a = mix(u64((low ^ high) * factor));
  return u64(mix(u64((high ^ a) * factor)) * factor);
}

/** `crcTables[n][b]` is the CRC-32C of the byte b, followed by n zero bytes. */
const crcTables = Array.from({ length: 8 }, () => new Uint32Array(256));
for (let byte = 0; byte < 256; byte++) {
  let crc = byte;
  for (const table of crcTables) {
    for (let bit = 0; bit < 8; bit++) {
      crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    table[byte] = crc;
  }
}
const [t0, t1, t2, t3, t4, t5, t6, t7] = crcTables as [
  ...[Uint32Array, Uint32Array, Uint32Array, Uint32Array],
  ...[Uint32Array, Uint32Array, Uint32Array, Uint32Array],
];

function crcOf(crc: number, value: bigint): number {
  const low = Number(BigInt.asUintN(32, value)) ^ crc;
  const high = Number(value >> 32n);
  return (
    ((t7[low & 255] as number) ^
      (t6[(low >>> 8) & 255] as number) ^
      (t5[(low >>> 16) & 255] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[high & 255] as number) ^
      (t2[(high >>> 8) & 255] as number) ^
      (t1[(high >>> 16) & 255] as number) ^
      (t0[high >>> 24] as number)) >>>
    0
  );
}

/** A round of the loop below takes this number of bytes, in six steps. */
const roundBytes = 240;
const stepBytes = 40;

/** Returns the 32 bytes of the hash of one chunk (CityHashCrc256). The length must be a multiple of 8. */
export function hashOfChunk(chunk: Uint8Array): Uint8Array {
  const isShort = chunk.length < roundBytes;
  const bytes = isShort ? new Uint8Array(roundBytes) : chunk;
  if (isShort) {
    bytes.set(chunk);
  }
  const seed = isShort ? ~chunk.length >>> 0 : 0;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const word = (at: number) => view.getBigUint64(at, true);
  const length = BigInt(bytes.length);

  let a = u64(word(56) + k0);
  let b = u64(word(96) + k0);
  let c = fold(b, length);
  let d = u64(word(120) * k0 + length);
  let e = u64(word(184) + BigInt(seed));
  let t = u64(c + d);
  const first = c;
  const second = d;
  let [crcF, crcG, crcH, crcI, crcJ] = [seed, 0, 0, 0, 0];

  const step = (at: number, factor: bigint, z: bigint) => {
    const oldA = a;
    a = u64(rotate(b, 41n ^ z) * factor + word(at));
    b = u64(rotate(c, 27n ^ z) * factor + word(at + 8));
    c = u64(rotate(d, 41n ^ z) * factor + word(at + 16));
    d = u64(rotate(e, 33n ^ z) * factor + word(at + 24));
    e = u64(rotate(t, 25n ^ z) * factor + word(at + 32));
    t = oldA;
    crcF = crcOf(crcF, a);
    crcG = crcOf(crcG, b);
    crcH = crcOf(crcH, c);
    crcI = crcOf(crcI, d);
    crcJ = crcOf(crcJ, e);
  };

  const rounds = Math.floor(bytes.length / roundBytes);
  let at = 0;
  for (; at < rounds * roundBytes; at += 2 * stepBytes) {
    step(at, 1n, 1n);
    step(at + stepBytes, k0, 0n);
  }
  for (; bytes.length - at >= stepBytes; at += stepBytes) {
    step(at, k0, 0n);
  }
  if (at < bytes.length) {
    step(bytes.length - stepBytes, k0, 0n);
  }

  let i = BigInt(crcI);
  let j = u64(BigInt(crcJ) + (i << 32n));
  const h = u64(BigInt(crcH) + (BigInt(crcG) << 32n));
  a = fold(a, j);
  b = u64(b + h);
  c = u64(fold(c, BigInt(crcF)) + i);
  d = fold(d, u64(e + first));
  j = u64(j + e);
  i = u64(i + fold(h, t));
  e = u64(fold(a, d) + j);
  const f = u64(fold(b, c) + a);
  const g = u64(fold(j, i) + c);
  const sum = u64(e + f + g + h);
  a = u64(mix(u64((a + g) * k0)) * k0 + b);
  const sum2 = u64(second + a + sum);
  a = u64(mix(u64(a * k0)) * k0 + c);
  const sum3 = u64(a + sum2);
  a = u64(mix(u64((a + e) * k0)) * k0);
  return bytesOf(sum, sum2, sum3, u64(a + sum3));
}

/** For more chunks, the generator uses another function. */
export const chunksMax = 4;

/** Returns the 16 bytes of the checksum of a table (CityMurmur). `hashes` are the hashes of all chunks, one after the other. */
export function checksumOf(hashes: Uint8Array): Uint8Array {
  const view = new DataView(hashes.buffer, hashes.byteOffset, hashes.length);
  const word = (at: number) => view.getBigUint64(at, true);
  const end = hashes.length;
  const length = end - 16;
  let a = word(0) ^ k3;
  let b = word(8);
  let c: bigint;
  let d: bigint;
  if (length === 16) {
    const [low, high] = [word(16), word(24)];
    a = u64(mix(u64(a * k1)) * k1);
    c = u64(b * k1 + (fold(low, rotate(u64(high + 16n), 16n)) ^ high));
    d = mix(u64(a + low));
  } else {
    c = fold(u64(word(end - 8) + k1), a);
    d = fold(u64(b + BigInt(length)), u64(c + word(end - 16)));
    a = u64(a + d);
    for (let at = 16; at < end - 16; at += 16) {
      a = u64((a ^ u64(mix(u64(word(at) * k1)) * k1)) * k1);
      b ^= a;
      c = u64((c ^ u64(mix(u64(word(at + 8) * k1)) * k1)) * k1);
      d ^= c;
    }
  }
  a = fold(a, c);
  b = fold(d, b);
  return bytesOf(a ^ b, fold(b, a));
}

function bytesOf(...words: readonly bigint[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * words.length));
  for (const [index, word] of words.entries()) {
    view.setBigUint64(8 * index, word, true);
  }
  return new Uint8Array(view.buffer);
}
