import { DamagedTable } from "./damaged-table.ts";
import { blockBytesMax, type Code, type CodedValues, type Part, startBits } from "./layout.ts";

/**
 * Returns bytes of a file. Returns fewer bytes only if the file is shorter.
 * @throws if the file cannot be read or has changed
 */
export type ReadBytes = (offset: number, length: number) => Promise<Uint8Array>;

/** Returns the stored value of a placement. */
export async function readValue(
  { values, placement }: Part,
  index: number,
  read: ReadBytes,
): Promise<number> {
  if (values.kind === "constant") {
    return values.value;
  }
  if (!(index >= 0 && index < placement.size)) {
    throw new DamagedTable("has no value for a position");
  }
  const { block, rest } = await findBlock(values, index, read);
  const bytes = await read(values.blocksAt + block * values.blockBytes, values.blockBytes);
  if (bytes.length < values.blockBytes) {
    throw new DamagedTable("ends too early");
  }
  return decode(values, bytes, rest);
}

/** The lengths of this number of blocks are read at once. */
const lengthsAtOnce = 64;
/** No table has so many blocks between two places of its index. */
const stepsMax = 65_536;

/**
 * Finds the block of a value, and the place of the value in this block. The index says where the value in the middle of a span
 * is. From there, the lengths of the blocks lead to the others.
 */
async function findBlock(
  { span, indexAt, lengthsAt, lengths, blocks }: CodedValues,
  index: number,
  read: ReadBytes,
): Promise<{ readonly block: number; readonly rest: number }> {
  const entry = await read(indexAt + 6 * Math.floor(index / span), 6);
  let block = u16(entry, 0) + 65_536 * u16(entry, 2);
  let rest = (index % span) - span / 2 + u16(entry, 4);
  for (let steps = 0; steps < stepsMax; steps += lengthsAtOnce) {
    const from = rest < 0 ? Math.max(0, block - lengthsAtOnce) : block;
    const end = rest < 0 ? block : Math.min(block + lengthsAtOnce, blocks);
    if (from >= end || end > lengths) {
      throw new DamagedTable("has an index that leads out of the file");
    }
    const stored = await read(lengthsAt + 2 * from, 2 * (end - from));
    const lengthOf = (one: number) => u16(stored, 2 * (one - from)) + 1;
    while (rest < 0 && block > from) {
      block--;
      rest += lengthOf(block);
    }
    while (rest >= 0 && block < end && rest >= lengthOf(block)) {
      rest -= lengthOf(block);
      block++;
    }
    if (rest >= 0 && block < end && block < blocks) {
      return { block, rest };
    }
  }
  throw new DamagedTable("has an index that leads nowhere");
}

function u16(bytes: Uint8Array, at: number): number {
  const [low, high] = [bytes[at], bytes[at + 1]];
  if (low === undefined || high === undefined) {
    throw new DamagedTable("ends too early");
  }
  return low | (high << 8);
}

/** A copy of the block that is being decoded. Behind its end are zeros, so that 32 bits can be read at each bit of the block. */
const copy = new Uint8Array(blockBytesMax + 8);
const copied = new DataView(copy.buffer);

/** Returns a value of a block. `rest` is its place in the block. */
function decode(code: Code, block: Uint8Array, rest: number): number {
  const { minBits, smallest, starts, firstSymbol, extra } = code;
  copy.set(block);
  copy.fill(0, block.length, block.length + 8);
  const end = 8 * block.length;
  for (let at = 0; at < end; ) {
    const [byte, shift] = [at >> 3, at & 7];
    const next = ((copied.getUint32(byte) << shift) | (copied.getUint8(byte + 4) >> (8 - shift))) >>> 0;
    let index = starts[next >>> (32 - startBits)] as number;
    while (next < (smallest[index] as number)) {
      index++;
    }
    const length = minBits + index;
    const symbol = (firstSymbol[index] as number) + ((next - (smallest[index] as number)) >>> (32 - length));
    const count = extra[symbol];
    if (count === undefined) {
      throw new DamagedTable("contains an unknown symbol");
    }
    if (rest <= count) {
      return valueOfSymbol(code, symbol, rest);
    }
    rest -= count + 1;
    at += length;
  }
  throw new DamagedTable("has a block that ends too early");
}

function valueOfSymbol({ left, right, extra }: Code, symbol: number, rest: number): number {
  let one = symbol;
  let place = rest;
  while ((extra[one] as number) > 0) {
    const first = left[one] as number;
    const count = (extra[first] as number) + 1;
    if (place < count) {
      one = first;
    } else {
      place -= count;
      one = right[one] as number;
    }
  }
  return left[one] as number;
}
