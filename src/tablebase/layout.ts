import { DamagedTable } from "./damaged-table.ts";
import type { Material } from "./material.ts";
import { createPlacement, leadingPawns, type Placement } from "./placement.ts";

/** `wdl` has the results for both sides to move, `dtz` the distance to the next capture or pawn move for one side. */
export type TableKind = "wdl" | "dtz";

/** The decoded head of a file: the places of the values, and how to decode the values. */
export interface Layout {
  /** The parts of White and Black to move. A `dtz` table has one side, and so has a symmetric table. */
  readonly sides: readonly (readonly Part[])[];
  /** The size of the whole file. */
  readonly bytes: number;
  readonly headBytes: number;
}

/** The values of all positions with one side to move and, if there are pawns, with the leading pawn on one of two files. */
export interface Part {
  readonly placement: Placement;
  /** Has a meaning only in a `dtz` table. */
  readonly isBlackToMove: boolean;
  readonly isWinInPlies: boolean;
  readonly isLossInPlies: boolean;
  /** Only a `dtz` table has this field: the meaning of the stored values, for each of {@link valueMapOf}. */
  readonly valueMaps: readonly Uint16Array[] | undefined;
  readonly values: Values;
}

type Values =
  | { readonly kind: "constant"; readonly value: number }
  | ({ readonly kind: "coded" } & CodedValues);

/** Values are coded in blocks of equal size. The index has the block of every `span`th value. All places are offsets in the file. */
export interface CodedValues extends Code {
  readonly span: number;
  readonly blockBytes: number;
  readonly blocks: number;
  /** The offset of the index, which has 6 bytes for each span. */
  indexAt: number;
  readonly spans: number;
  /** The offset of the lengths: 2 bytes for each block, and for some blocks that do not exist. */
  lengthsAt: number;
  readonly lengths: number;
  blocksAt: number;
}

/** A canonical Huffman code. Each symbol stands for a value, or for two symbols. */
export interface Code {
  readonly minBits: number;
  /** The smallest code of each number of bits, in the upper bits. The first element has the codes of `minBits`. */
  readonly smallest: Uint32Array;
  /** By the first {@link startBits} bits of a code: the place in `smallest` from which to search for its number of bits. */
  readonly starts: Uint8Array;
  /** The symbol of the smallest code. */
  readonly firstSymbol: Uint16Array;
  /** The first symbol of the two, or the value. */
  readonly left: Uint16Array;
  readonly right: Uint16Array;
  /** The number of values that a symbol stands for, less 1. */
  readonly extra: Uint8Array;
}

/** No head is longer. */
export const headBytesMax = 256 * 1024;
export const checksumBytes = 16;

const magic: Readonly<Record<TableKind, number>> = { wdl: 0x5d23e871, dtz: 0xa50c66d7 };
const flagOf = { split: 1, pawns: 2 } as const;
const partFlag = {
  blackToMove: 1,
  mapped: 2,
  winInPlies: 4,
  lossInPlies: 8,
  wide: 16,
  constant: 128,
} as const;
const noSymbol = 0xfff;

/**
 * Reads the head of a file.
 * @param head the first bytes of the file, at most {@link headBytesMax}
 * @throws DamagedTable if anything is impossible, also if the size of the file is another than the head says
 */
export function readLayout(material: Material, kind: TableKind, head: Uint8Array, fileBytes: number): Layout {
  const cursor = createCursor(head);
  if (cursor.u32() !== magic[kind]) {
    throw new DamagedTable(`is not a file of ${kind === "wdl" ? "results (rtbw)" : "distances (rtbz)"}`);
  }
  const lead = leadingPawns(material);
  const expected = (material.isSymmetric ? 0 : flagOf.split) | (lead ? flagOf.pawns : 0);
  require((cursor.u8() & (flagOf.split | flagOf.pawns)) === expected, "has flags that do not fit its pieces");

  const sideCount = kind === "wdl" && !material.isSymmetric ? 2 : 1;
  const files = Array.from({ length: lead ? 4 : 1 }, (_, file) =>
    readPlacements(material, cursor, file, sideCount),
  );
  cursor.align(2);
  const parts = files.map((placements) => placements.map((placement) => readPart(cursor, placement, kind)));
  if (kind === "dtz") {
    for (const [part] of parts) {
      readValueMaps(cursor, part as MutablePart);
    }
    cursor.align(2);
  }

  const coded = parts.flat().flatMap(({ values }) => (values.kind === "coded" ? [values] : []));
  const headBytes = cursor.at();
  let at = headBytes;
  for (const values of coded) {
    values.indexAt = at;
    at += 6 * values.spans;
  }
  for (const values of coded) {
    values.lengthsAt = at;
    at += 2 * values.lengths;
  }
  for (const values of coded) {
    values.blocksAt = Math.ceil(at / 64) * 64;
    at = values.blocksAt + values.blocks * values.blockBytes;
  }
  const bytes = Math.ceil(at / 64) * 64 + checksumBytes;
  require(bytes === fileBytes, `has ${fileBytes} bytes, and not the ${bytes} that its head says`);
  const sides = Array.from({ length: sideCount }, (_, side) => parts.map((part) => part[side] as Part));
  return { sides, bytes, headBytes };
}

type MutablePart = { -readonly [Key in keyof Part]: Part[Key] } & { readonly flags: number };

function require(condition: boolean, problem: string): asserts condition {
  if (!condition) {
    throw new DamagedTable(problem);
  }
}

/** Of each side to move, whose bits are the lower and the upper half of each byte. */
function readPlacements(
  material: Material,
  cursor: Cursor,
  file: number,
  sideCount: number,
): readonly Placement[] {
  const lead = leadingPawns(material);
  const leadOrder = cursor.u8();
  const pawnOrder = lead && lead.others > 0 ? cursor.u8() : undefined;
  const pieces = Array.from({ length: material.men }, () => cursor.u8());
  return [0, 4].slice(0, sideCount).map((shift) => {
    const half = (byte: number) => (byte >> shift) & 15;
    const order = {
      lead: half(leadOrder),
      otherPawns: pawnOrder === undefined ? undefined : half(pawnOrder),
    };
    const placement = createPlacement(material, pieces.map(half), order, file);
    require(!lead || placement.codes[0] === lead.code, "has an impossible order of pieces");
    return placement;
  });
}

function readPart(cursor: Cursor, placement: Placement, kind: TableKind): MutablePart {
  const flags = cursor.u8();
  const known = Object.values(partFlag).reduce<number>((sum, flag) => sum | flag, 0);
  require((flags & ~known) === 0, "has unknown flags");
  const values =
    (flags & partFlag.constant) !== 0 ? readConstant(cursor, kind) : readCoded(cursor, placement, kind);
  return {
    placement,
    flags,
    isBlackToMove: (flags & partFlag.blackToMove) !== 0,
    isWinInPlies: (flags & partFlag.winInPlies) !== 0,
    isLossInPlies: (flags & partFlag.lossInPlies) !== 0,
    valueMaps: undefined,
    values,
  };
}

function readConstant(cursor: Cursor, kind: TableKind): Values {
  const value = cursor.u8();
  return { kind: "constant", value: kind === "wdl" ? checkedValue(value, kind) : 0 };
}

/** The largest value of a table of results: 2 more than the result from -2 to 2. */
const resultMax = 4;

function checkedValue(value: number, kind: TableKind): number {
  require(kind === "dtz" || value <= resultMax, "contains an impossible result");
  return value;
}

/** No block of the known tables has more bytes, and no span more values. */
const [blockBitsMax, spanBitsMax] = [16, 24];
export const blockBytesMax = 2 ** blockBitsMax;

function readCoded(cursor: Cursor, { size }: Placement, kind: TableKind): Values {
  const blockBits = cursor.u8();
  const spanBits = cursor.u8();
  const padding = cursor.u8();
  const blocks = cursor.u32();
  require(blockBits >= 2 && blockBits <= blockBitsMax, "has blocks of an impossible size");
  require(spanBits >= 1 && spanBits <= spanBitsMax, "has an index of an impossible size");
  // Each block has a value at least.
  require(blocks >= 1 && blocks <= size, "has more blocks than values");
  const code = readCode(cursor, kind);
  return {
    kind: "coded",
    ...code,
    span: 2 ** spanBits,
    blockBytes: 2 ** blockBits,
    blocks,
    spans: Math.ceil(size / 2 ** spanBits),
    lengths: blocks + padding,
    indexAt: 0,
    lengthsAt: 0,
    blocksAt: 0,
  };
}

const bitsMax = 32;

function readCode(cursor: Cursor, kind: TableKind): Code {
  const maxBits = cursor.u8();
  const minBits = cursor.u8();
  require(minBits >= 1 && minBits <= maxBits && maxBits <= bitsMax, "has codes of an impossible length");
  const firstSymbol = Uint16Array.from({ length: maxBits - minBits + 1 }, () => cursor.u16());
  const smallest = smallestCodes(firstSymbol, minBits);
  const count = cursor.u16();
  require(count >= 1 && count <= noSymbol, "has an impossible number of symbols");
  const left = new Uint16Array(count);
  const right = new Uint16Array(count);
  for (let symbol = 0; symbol < count; symbol++) {
    const [low, middle, high] = [cursor.u8(), cursor.u8(), cursor.u8()];
    left[symbol] = low | ((middle & 15) << 8);
    right[symbol] = (middle >> 4) | (high << 4);
  }
  cursor.align(2);
  const extra = lengthsOfSymbols(left, right, kind);
  return { minBits, smallest, starts: startsOf(smallest), firstSymbol, left, right, extra };
}

/** The longest codes begin at 0. Of a canonical code, the codes of each length follow those that are longer by a bit. */
function smallestCodes(firstSymbol: Uint16Array, minBits: number): Uint32Array {
  const smallest = new Uint32Array(firstSymbol.length);
  let code = 0;
  for (let index = firstSymbol.length - 2; index >= 0; index--) {
    code = Math.floor((code + (firstSymbol[index] as number) - (firstSymbol[index + 1] as number)) / 2);
    const bits = minBits + index;
    require(code >= 0 && code < 2 ** bits, "has an impossible code");
    smallest[index] = code * 2 ** (bitsMax - bits);
    require((smallest[index] as number) >= (smallest[index + 1] as number), "has an impossible code");
  }
  return smallest;
}

/** More bits need more memory for each code. */
export const startBits = 10;

function startsOf(smallest: Uint32Array): Uint8Array {
  const starts = new Uint8Array(2 ** startBits);
  let index = 0;
  for (let prefix = starts.length - 1; prefix >= 0; prefix--) {
    const largest = (prefix + 1) * 2 ** (bitsMax - startBits) - 1;
    while ((smallest[index] as number) > largest) {
      index++;
    }
    starts[prefix] = index;
  }
  return starts;
}

function lengthsOfSymbols(left: Uint16Array, right: Uint16Array, kind: TableKind): Uint8Array {
  const lengths = new Int32Array(left.length);
  const isOpen = -1;
  const lengthOf = (symbol: number): number => {
    require(symbol < left.length, "has a symbol of unknown symbols");
    const known = lengths[symbol] as number;
    require(known !== isOpen, "has a symbol that contains itself");
    if (known === 0) {
      lengths[symbol] = isOpen;
      const [first, second] = [left[symbol] as number, right[symbol] as number];
      if (second === noSymbol) {
        left[symbol] = checkedValue(kind === "wdl" ? first & 255 : first, kind);
        lengths[symbol] = 1;
      } else {
        lengths[symbol] = lengthOf(first) + lengthOf(second);
      }
      require((lengths[symbol] as number) <= 256, "has a symbol of too many values");
    }
    return lengths[symbol] as number;
  };
  return Uint8Array.from(left, (_, symbol) => lengthOf(symbol) - 1);
}

/** Returns which of the four maps of a part the values of a result are in. The result is from -2 to 2. */
export function valueMapOf(result: number): number {
  return result === 2 ? 0 : result === -2 ? 1 : result === 1 ? 2 : 3;
}

function readValueMaps(cursor: Cursor, part: MutablePart): void {
  if ((part.flags & partFlag.mapped) === 0) {
    return;
  }
  const isWide = (part.flags & partFlag.wide) !== 0;
  if (isWide) {
    cursor.align(2);
  }
  const read = isWide ? cursor.u16 : cursor.u8;
  part.valueMaps = Array.from({ length: 4 }, () => {
    const count = read();
    require(count <= noSymbol + 1, "has too many distances");
    return Uint16Array.from({ length: count }, read);
  });
}

type Cursor = ReturnType<typeof createCursor>;

/** Reads little-endian numbers. */
function createCursor(bytes: Uint8Array) {
  let next = 0;
  const u8 = (): number => {
    const byte = bytes[next++];
    require(byte !== undefined, "ends too early");
    return byte;
  };
  const u16 = () => u8() + 256 * u8();
  const u32 = () => u16() + 65_536 * u16();
  return {
    u8,
    u16,
    u32,
    at: () => next,
    align(to: number) {
      next = Math.ceil(next / to) * to;
    },
  };
}
