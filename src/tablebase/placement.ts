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
const transposed = (square: number) => rankOf(square) | (fileOf(square) << 3);

/** `choices[k][n]` is the number of ways to choose k of n. */
const choices = Array.from({ length: 8 }, () => new Float64Array(65));
for (let n = 0; n <= 64; n++) {
  for (const [k, row] of choices.entries()) {
    row[n] = k === 0 ? 1 : n === 0 ? 0 : at(at2(choices, k - 1), n - 1) + at(row, n - 1);
  }
}

/** The squares of the triangle a1, d1, d4: first those below the diagonal, then those on the diagonal. */
const triangle = [1, 2, 3, 10, 11, 19, 0, 9, 18, 27];
const indexInTriangle = new Int8Array(64);
for (const [index, square] of triangle.entries()) {
  indexInTriangle[square] = index;
}

/** Numbers the 28 squares below the diagonal. */
const indexBelow = new Int8Array(64);
/** `kingPairs[index of the first king in the triangle][square of the second king]`, or -1 if the kings touch each other. */
const kingPairs = triangle.map(() => new Int16Array(64).fill(-1));
numberSquares();

const threePieces = 31_332;
const twoKings = 462;

/** Numbers the squares of pawns. The leading pawn is the one with the largest number. */
const pawnRank = new Int8Array(64);
/** `leadPawn[count - 1][square]` is the first number of a group of so many pawns whose leading pawn stands there. */
const leadPawn = Array.from({ length: 5 }, () => new Float64Array(64));
/** `leadPawnSize[count - 1][file]` */
const leadPawnSize = Array.from({ length: 5 }, () => new Float64Array(4));
numberPawns();

function numberSquares(): void {
  let below = 0;
  let pairs = 0;
  const onDiagonal: (() => void)[] = [];
  for (let square = 0; square < 64; square++) {
    if (aboveDiagonal(square) < 0) {
      indexBelow[square] = below++;
    }
  }
  for (const [index, first] of triangle.entries()) {
    for (let second = 0; second < 64; second++) {
      const touches =
        Math.abs(fileOf(first) - fileOf(second)) <= 1 && Math.abs(rankOf(first) - rankOf(second)) <= 1;
      const isOnDiagonal = aboveDiagonal(first) === 0;
      const isMirrored = isOnDiagonal && aboveDiagonal(second) > 0;
      const number = () => {
        at2(kingPairs, index)[second] = pairs++;
      };
      if (!touches && isOnDiagonal && aboveDiagonal(second) === 0) {
        onDiagonal.push(number);
      } else if (!touches && !isMirrored) {
        number();
      }
    }
  }
  for (const number of onDiagonal) {
    number();
  }
}

function numberPawns(): void {
  let next = 47;
  for (let file = 0; file < 4; file++) {
    const sizes = leadPawn.map(() => 0);
    for (let rank = 1; rank < 7; rank++) {
      const square = 8 * rank + file;
      pawnRank[square] = next--;
      pawnRank[square ^ 7] = next--;
      for (const [others, numbers] of leadPawn.entries()) {
        numbers[square] = at(sizes, others);
        sizes[others] = at(sizes, others) + at(at2(choices, others), at(pawnRank, square));
      }
    }
    for (const [others, size] of sizes.entries()) {
      at2(leadPawnSize, others)[file] = size;
    }
  }
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
      size *=
        lead === "pawns" ? at(at2(leadPawnSize, count - 1), file) : lead === "kings" ? twoKings : threePieces;
    } else if (group === 1 && hasOtherPawns) {
      size *= at(at2(choices, count), 48 - pawns);
    } else {
      size *= at(at2(choices, count), free);
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

function countsOfGroups(codes: readonly number[], lead: Placement["lead"]): readonly number[] {
  const counts: number[] = [];
  let start = 0;
  const add = (count: number, isAllowed: boolean) => {
    if (!isAllowed) {
      throw new DamagedTable("has an impossible order of pieces");
    }
    counts.push(count);
    start += count;
  };
  if (lead === "kings") {
    add(
      2,
      codes.slice(0, 2).every((code) => (code & ~blackBit) === kingCode),
    );
  } else if (lead === "three pieces") {
    add(
      3,
      codes.slice(0, 3).every((code) => countOf(codes, code) === 1),
    );
  }
  while (start < codes.length) {
    const code = at(codes, start);
    const count = countOf(codes, code);
    add(
      count,
      codes.slice(start, start + count).every((one) => one === code),
    );
  }
  return counts;
}

/** Returns the file of the leading pawn, from 0 (a or h) to 3 (d or e). Moves the leading pawn to the front. */
export function leadPawnToFront(squares: number[], count: number): number {
  for (let index = 1; index < count; index++) {
    if (at(pawnRank, at(squares, index)) > at(pawnRank, at(squares, 0))) {
      swap(squares, 0, index);
    }
  }
  const file = fileOf(at(squares, 0));
  return Math.min(file, 7 - file);
}

/**
 * Returns the number of a placement. Changes `squares`. If pawns lead, the leading pawn is the first.
 * @throws DamagedTable if the table has no such number, as happens only if the pieces of its header are wrong
 */
export function indexOfSquares(placement: Placement, squares: number[]): number {
  const { lead, groups } = placement;
  if (fileOf(at(squares, 0)) > 3) {
    flip(squares, 7);
  }
  let index = lead === "pawns" ? indexOfPawns(squares, at2(groups, 0).count) : indexOfPieces(squares, lead);
  index *= at2(groups, 0).factor;
  for (let number = 1; number < groups.length; number++) {
    const { start, count, factor } = at2(groups, number);
    sort(squares, start, start + count, (one, other) => one < other);
    // The second group of pawns has no squares on the first rank.
    const isOfPawns =
      lead === "pawns" && number === 1 && (at(placement.codes, start) & ~blackBit) === pawnCode;
    let sum = 0;
    for (let one = 0; one < count; one++) {
      const square = at(squares, start + one);
      let free = isOfPawns ? square - 8 : square;
      for (let earlier = 0; earlier < start; earlier++) {
        free -= at(squares, earlier) < square ? 1 : 0;
      }
      sum += at(at2(choices, one + 1), free);
    }
    index += sum * factor;
  }
  return index;
}

function indexOfPawns(squares: number[], count: number): number {
  sort(squares, 1, count, (one, other) => at(pawnRank, one) > at(pawnRank, other));
  let index = at(at2(leadPawn, count - 1), at(squares, 0));
  for (let pawn = 1; pawn < count; pawn++) {
    index += at(at2(choices, count - pawn), at(pawnRank, at(squares, pawn)));
  }
  return index;
}

function indexOfPieces(squares: number[], lead: "three pieces" | "kings"): number {
  if (rankOf(at(squares, 0)) > 3) {
    flip(squares, 56);
  }
  const leading = lead === "kings" ? 2 : 3;
  for (let piece = 0; piece < leading; piece++) {
    const side = aboveDiagonal(at(squares, piece));
    if (side > 0) {
      for (const [index, square] of squares.entries()) {
        squares[index] = transposed(square);
      }
    }
    if (side !== 0) {
      break;
    }
  }
  const [a = 0, b = 0, c = 0] = squares;
  return lead === "kings" ? at(at2(kingPairs, at(indexInTriangle, a)), b) : indexOfThree(a, b, c);
}

/** Numbers three single pieces: those with the first piece below the diagonal, then those with the second below it, and so on. */
function indexOfThree(a: number, b: number, c: number): number {
  const skipB = b > a ? 1 : 0;
  const skipC = (c > a ? 1 : 0) + (c > b ? 1 : 0);
  if (aboveDiagonal(a) !== 0) {
    return (at(indexInTriangle, a) * 63 + (b - skipB)) * 62 + (c - skipC);
  }
  const secondBelow = 6 * 63 * 62;
  if (aboveDiagonal(b) !== 0) {
    return secondBelow + (fileOf(a) * 28 + at(indexBelow, b)) * 62 + (c - skipC);
  }
  const thirdBelow = secondBelow + 4 * 28 * 62;
  const two = fileOf(a) * 7 + (fileOf(b) - skipB);
  if (aboveDiagonal(c) !== 0) {
    return thirdBelow + two * 28 + at(indexBelow, c);
  }
  return thirdBelow + 4 * 7 * 28 + two * 6 + (fileOf(c) - skipC);
}

function flip(squares: number[], bits: number): void {
  for (const [index, square] of squares.entries()) {
    squares[index] = square ^ bits;
  }
}

/** Sorts the few squares from `start` to before `end`. */
function sort(
  squares: number[],
  start: number,
  end: number,
  isBefore: (a: number, b: number) => boolean,
): void {
  for (let last = start + 1; last < end; last++) {
    for (let one = last; one > start && isBefore(at(squares, one), at(squares, one - 1)); one--) {
      swap(squares, one, one - 1);
    }
  }
}

function swap(squares: number[], one: number, other: number): void {
  const square = at(squares, one);
  squares[one] = at(squares, other);
  squares[other] = square;
}

function at(numbers: ArrayLike<number>, index: number): number {
  return numbers[index] as number;
}

function at2<T>(items: readonly T[], index: number): T {
  return items[index] as T;
}
