import type { Chess } from "chessops/chess";
import { DamagedTable } from "./damaged-table.ts";
import { type Layout, type Part, valueMapOf } from "./layout.ts";
import { blackBit, pieceFromCode } from "./material.ts";
import { indexOfSquares, leadPawnToFront, type Placement } from "./placement.ts";
import { type ReadBytes, readValue } from "./values.ts";

/** The result with perfect play from the side to move: win 2, win that the fifty-move rule spoils 1, draw 0, and so on to -2. */
export type Result = -2 | -1 | 0 | 1 | 2;

/** A file that is open, and how to see the pieces of a position as the table does. */
export interface OpenTable {
  readonly layout: Layout;
  readonly read: ReadBytes;
  /** Remembers that the file is damaged, or cannot be read. Returns the error to throw. */
  reject(error: unknown): Error;
  readonly isSymmetric: boolean;
  /** True if the side that the table calls White is Black in the position. Not used if the table is symmetric. */
  readonly isSwapped: boolean;
}

/** Returns a value that is right only if no capture is better. */
export async function lookUpResult(table: OpenTable, chess: Chess): Promise<Result> {
  const { part, squares } = find(table, chess);
  return ((await storedValue(table, part, squares)) - 2) as Result;
}

async function storedValue({ read, reject }: OpenTable, part: Part, squares: number[]): Promise<number> {
  try {
    return await readValue(part, indexOfSquares(part.placement, squares), read);
  } catch (error) {
    throw reject(error);
  }
}

/**
 * Returns the number of plies to the next capture or pawn move, less 1. For results of 1 and -1, also less 100. The number may be
 * too small by 1, because most tables store moves and not plies.
 * @returns undefined if the table has only positions with the other side to move
 */
export async function lookUpDistance(
  table: OpenTable,
  chess: Chess,
  result: Result,
): Promise<number | undefined> {
  const { part, squares, isBlackToMove } = find(table, chess);
  if (part.isBlackToMove !== isBlackToMove && !table.isSymmetric) {
    return undefined;
  }
  const stored = await storedValue(table, part, squares);
  const distance = part.valueMaps ? part.valueMaps[valueMapOf(result)]?.[stored] : stored;
  if (distance === undefined) {
    throw table.reject(new DamagedTable("contains an unknown distance"));
  }
  const isInPlies = (result === 2 && part.isWinInPlies) || (result === -2 && part.isLossInPlies);
  return isInPlies ? distance : 2 * distance;
}

/** Finds the part of a table for a position, and the squares of the pieces in the order of this part. */
function find(
  { layout, isSymmetric, isSwapped }: OpenTable,
  chess: Chess,
): { readonly part: Part; readonly squares: number[]; readonly isBlackToMove: boolean } {
  const swap = isSymmetric ? chess.turn === "black" : isSwapped;
  const isBlackToMove = !isSymmetric && (chess.turn === "black") !== isSwapped;
  const side = layout.sides[layout.sides.length > 1 && isBlackToMove ? 1 : 0] as Layout["sides"][number];
  const [first] = side as readonly [Part];
  if (first.placement.lead !== "pawns") {
    return { part: first, squares: squaresOf(first.placement, chess, swap), isBlackToMove };
  }
  const pawns: number[] = [];
  addSquares(pawns, chess, first.placement.codes[0] as number, swap);
  const part = side[leadPawnToFront(pawns)] as Part;
  const squares = squaresOf(part.placement, chess, swap);
  pawns.forEach((square, index) => {
    squares[index] = square;
  });
  return { part, squares, isBlackToMove };
}

function squaresOf({ codes }: Placement, chess: Chess, swap: boolean): number[] {
  const squares: number[] = [];
  while (squares.length < codes.length) {
    addSquares(squares, chess, codes[squares.length] as number, swap);
  }
  return squares;
}

function addSquares(squares: number[], { board }: Chess, code: number, swap: boolean): void {
  const { color, role } = pieceFromCode(swap ? code ^ blackBit : code);
  const { lo, hi } = board.pieces(color, role);
  const flip = swap ? 56 : 0;
  for (const [half, first] of [
    [lo, 0],
    [hi, 32],
  ] as const) {
    for (let bits = half; bits !== 0; bits &= bits - 1) {
      squares.push((first + 31 - Math.clz32(bits & -bits)) ^ flip);
    }
  }
}
