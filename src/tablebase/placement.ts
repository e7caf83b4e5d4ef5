import { DamagedTable } from "./damaged-table.ts";
import { blackBit, kingCode, type Material, pawnCode } from "./material.ts";

/**
 * Numbers the placements of pieces on the board. A table stores a value for each number.
 *
 * The pieces are in groups. The leading group decides how the board is mirrored, so that it needs few numbers: the pawns of one
 * side, or three single pieces, or both kings. Each later group consists of equal pieces, which are numbered by the squares that
 * earlier groups leave free. The number of a placement is the sum of the numbers of its groups, each times the factor of the group.
 */
export interface Placement {
  /** The code of each piece, in the order of the squares that {@link indexOfSquares} takes. */
  readonly codes: readonly number[];
  readonly lead: "pawns" | "three pieces" | "kings";
  readonly groups: readonly Group[];
  /** The number of placements. */
  readonly size: number;
}

interface Group {
  readonly start: number;
  readonly count: number;
  readonly factor: number;
}

/** How a table says in which order the groups are numbered. */
interface GroupOrder {
  readonly lead: number;
  /** The pawns of the other side, if both sides have pawns. */
  readonly otherPawns: number | undefined;
}

const fileOf = (square: number) => square & 7;
const rankOf = (square: number) => square >> 3;
/** Positive above the diagonal from a1 to h8. */
const aboveDiagonal = (square: number) => rankOf(square) - fileOf(square);

/** `choices[k][n]` is the number of ways to choose k of n. */
const choices: number[][] = [Array.from({ length: 65 }, () => 1)];
for (let k = 1; k < 7; k++) {
  const row = [0];
  for (let n = 0; n < 64; n++) {
    row.push(at(row, n) + choose(k - 1, n));
  }
  choices.push(row);
}

function choose(k: number, n: number): number {
  return choices[k]?.[n] ?? 0;
}

const squares = Array.from({ length: 64 }, (_, square) => square);
const below = squares.filter((square) => aboveDiagonal(square) < 0);
const diagonal = squares.filter((square) => aboveDiagonal(square) === 0);
/** The first piece is mirrored to the triangle a1, d1, d4. */
const belowInTriangle = below.filter((square) => fileOf(square) < 4);
const diagonalInTriangle = diagonal.slice(0, 4);

/** The numbers of two kings, by 64 * the square of the first + the square of the second. */
const kingPairs = new Uint16Array(64 ** 2);
let twoKings = 0;
for (const [firsts, seconds] of [
  [belowInTriangle, squares],
  [diagonalInTriangle, below],
  [diagonalInTriangle, diagonal],
] as const) {
  for (const first of firsts) {
    for (const second of seconds) {
      const files = Math.abs(fileOf(first) - fileOf(second));
      const ranks = Math.abs(rankOf(first) - rankOf(second));
      if (Math.max(files, ranks) > 1) {
        kingPairs[64 * first + second] = twoKings++;
      }
    }
  }
}

/** The numbers of three single pieces, by their squares as digits. */
const triples = new Uint16Array(64 ** 3);
let threePieces = 0;
for (const [firsts, seconds, thirds] of [
  [belowInTriangle, squares, squares],
  [diagonalInTriangle, below, squares],
  [diagonalInTriangle, diagonal, below],
  [diagonalInTriangle, diagonal, diagonal],
] as const) {
  for (const first of firsts) {
    for (const second of seconds) {
      for (const third of thirds) {
        if (first !== second && first !== third && second !== third) {
          triples[64 * (64 * first + second) + third] = threePieces++;
        }
      }
    }
  }
}

/** Numbers the squares of pawns, from the a file to the d file. The leading pawn is the one with the largest number. */
const pawnRank = new Int8Array(64);
for (const square of squares.slice(8, 56).filter((one) => fileOf(one) < 4)) {
  const number = 47 - 2 * (6 * fileOf(square) + rankOf(square) - 1);
  pawnRank[square] = number;
  pawnRank[square ^ 7] = number - 1;
}

/** Returns how many placements of these pawns have their leading pawn on this file and on a rank before `rank`. */
function pawnsBefore(count: number, file: number, rank: number): number {
  let sum = 0;
  for (let one = 1; one < rank; one++) {
    sum += choose(count - 1, at(pawnRank, 8 * one + file));
  }
  return sum;
}

/**
 * @param file the file of the leading pawn, from 0 (a) to 3 (d); ignored without pawns
 * @throws DamagedTable if the pieces are not those of the material, or are in an impossible order
 */
export function createPlacement(
  material: Material,
  codes: readonly number[],
  order: GroupOrder,
  file: number,
): Placement {
  if (codes.toSorted((a, b) => a - b).join() !== material.codes.join()) {
    throw new DamagedTable("contains other pieces than its name says");
  }
  const lead = leadOf(material);
  const counts = countsOfGroups(codes, lead);
  const hasOtherPawns = order.otherPawns !== undefined;
  const slots = counts.map((_, index) => index);
  const rest = slots.slice(hasOtherPawns ? 2 : 1);
  const sequence = slots.map((slot) =>
    slot === order.lead ? 0 : slot === order.otherPawns ? 1 : (rest.shift() ?? -1),
  );
  if (sequence.toSorted((a, b) => a - b).join() !== slots.join()) {
    throw new DamagedTable("has an impossible order of pieces");
  }

  const factors = counts.map(() => 1);
  const pawns = lead === "pawns" ? at(counts, 0) : 0;
  let free = 64 - at(counts, 0) - (hasOtherPawns ? at(counts, 1) : 0);
  let size = 1;
  for (const group of sequence) {
    factors[group] = size;
    const count = at(counts, group);
    if (group === 0) {
      size *= lead === "pawns" ? pawnsBefore(count, file, 7) : lead === "kings" ? twoKings : threePieces;
    } else if (group === 1 && hasOtherPawns) {
      size *= choose(count, 48 - pawns);
    } else {
      size *= choose(count, free);
      free -= count;
    }
  }
  let start = 0;
  const groups = counts.map((count, index) => {
    start += count;
    return { start: start - count, count, factor: at(factors, index) };
  });
  return { codes, lead, groups, size };
}

/** Returns the code and the number of the pawns that lead, which are those of the side with fewer pawns. */
export function leadingPawns({
  codes,
}: Material): { readonly code: number; readonly others: number } | undefined {
  const white = codes.filter((code) => code === pawnCode).length;
  const black = codes.filter((code) => code === (pawnCode | blackBit)).length;
  if (white + black === 0) {
    return undefined;
  }
  const isBlack = white === 0 || (black > 0 && black < white);
  return { code: isBlack ? pawnCode | blackBit : pawnCode, others: isBlack ? white : black };
}

function leadOf(material: Material): Placement["lead"] {
  if (leadingPawns(material)) {
    return "pawns";
  }
  const single = material.codes.filter((code) => countOf(material.codes, code) === 1);
  return single.length === 2 ? "kings" : "three pieces";
}

const countOf = (codes: readonly number[], code: number) => codes.filter((one) => one === code).length;

/** Equal pieces are a group, but a leading group of kings or three pieces has different ones. */
function countsOfGroups(codes: readonly number[], lead: Placement["lead"]): readonly number[] {
  const mixed = lead === "pawns" ? 0 : lead === "kings" ? 2 : 3;
  const leading = codes.slice(0, mixed);
  const others = codes.slice(mixed).filter((code, index, all) => code !== all[index - 1]);
  const isPossible =
    new Set([...leading, ...others]).size === mixed + others.length &&
    (lead !== "kings" || leading.every((code) => (code & ~blackBit) === kingCode));
  if (!isPossible) {
    throw new DamagedTable("has an impossible order of pieces");
  }
  const counts = others.map((code) => countOf(codes, code));
  return mixed === 0 ? counts : [mixed, ...counts];
}

/** Returns the file of the leading pawn, from 0 (a or h) to 3 (d or e). Moves the leading pawn to the front. */
export function leadPawnToFront(pawns: number[]): number {
  const lead = pawns.reduce((one, other) => (at(pawnRank, other) > at(pawnRank, one) ? other : one));
  pawns[pawns.indexOf(lead)] = at(pawns, 0);
  pawns[0] = lead;
  return Math.min(fileOf(lead), 7 - fileOf(lead));
}

/**
 * Returns the number of a placement. Changes `placed`. If pawns lead, the leading pawn is the first.
 * @throws DamagedTable if the table has no such number, as happens only if the pieces of its header are wrong
 */
export function indexOfSquares({ lead, groups, codes }: Placement, placed: number[]): number {
  mirror(placed, lead);
  let index = 0;
  for (const [number, { start, count, factor }] of groups.entries()) {
    if (number === 0) {
      index += factor * (lead === "pawns" ? indexOfPawns(placed, count) : indexOfPieces(placed, lead));
    } else {
      // The second group of pawns has no squares on the first rank.
      const isOfPawns = lead === "pawns" && number === 1 && (at(codes, start) & ~blackBit) === pawnCode;
      index += factor * indexOfEqual(placed, start, start + count, isOfPawns ? 8 : 0);
    }
  }
  return index;
}

/** Mirrors the board so that the first piece is on the files a to d and, without pawns, in the triangle a1, d1, d4. */
function mirror(placed: number[], lead: Placement["lead"]): void {
  const first = at(placed, 0);
  const flip = (fileOf(first) > 3 ? 7 : 0) | (lead !== "pawns" && rankOf(first) > 3 ? 56 : 0);
  for (let piece = 0; piece < placed.length; piece++) {
    placed[piece] = at(placed, piece) ^ flip;
  }
  const leading = lead === "pawns" ? 0 : lead === "kings" ? 2 : 3;
  const decisive = placed.findIndex((square, piece) => piece >= leading || aboveDiagonal(square) !== 0);
  if (decisive < leading && aboveDiagonal(at(placed, decisive)) > 0) {
    for (let piece = 0; piece < placed.length; piece++) {
      const square = at(placed, piece);
      placed[piece] = rankOf(square) | (fileOf(square) << 3);
    }
  }
}

function indexOfPieces(placed: readonly number[], lead: "three pieces" | "kings"): number {
  const pair = 64 * at(placed, 0) + at(placed, 1);
  return lead === "kings" ? at(kingPairs, pair) : at(triples, 64 * pair + at(placed, 2));
}

function indexOfPawns(placed: readonly number[], count: number): number {
  const lead = at(placed, 0);
  let index = pawnsBefore(count, fileOf(lead), rankOf(lead));
  for (let pawn = 1; pawn < count; pawn++) {
    const number = at(pawnRank, at(placed, pawn));
    let order = 1;
    for (let other = 1; other < count; other++) {
      order += at(pawnRank, at(placed, other)) < number ? 1 : 0;
    }
    index += choose(order, number);
  }
  return index;
}

/** Numbers equal pieces by the squares that earlier pieces leave free. */
function indexOfEqual(placed: readonly number[], start: number, end: number, firstSquare: number): number {
  let index = 0;
  for (let piece = start; piece < end; piece++) {
    const square = at(placed, piece);
    let order = 1;
    let free = square - firstSquare;
    for (let other = 0; other < end; other++) {
      if (at(placed, other) < square) {
        other < start ? free-- : order++;
      }
    }
    index += choose(order, free);
  }
  return index;
}

function at(numbers: ArrayLike<number>, index: number): number {
  return numbers[index] as number;
}
