import type { Board } from "chessops/board";
import type { Color, Role } from "chessops/types";

/** The pieces of both sides. In a table, the side with the first name is White. */
export interface Material {
  /** Such as `KQvKR`: the file names of a table begin with it. */
  readonly name: string;
  readonly men: number;
  /** True if both sides have the same pieces. Such a table knows only positions with White to move. */
  readonly isSymmetric: boolean;
  /** The codes of all pieces, in ascending order. */
  readonly codes: readonly number[];
}

/** The order of the letters in a name. */
const letters = "KQRBNP";
const rolesByStrength = ["king", "queen", "rook", "bishop", "knight", "pawn"] as const;
/** Tables name a piece by a number of four bits. Black's pieces have {@link blackBit}. */
const rolesByCode = ["pawn", "knight", "bishop", "rook", "queen", "king"] as const;

export const pawnCode = 1;
export const kingCode = 6;
export const blackBit = 8;

export const menMax = 7;

/** Returns undefined if no table has this name: `KRvKQ` is a part of `KQvKR`. */
export function materialFromName(name: string): Material | undefined {
  const [, white, black] = /^(KQ*R*B*N*P*)v(KQ*R*B*N*P*)$/.exec(name) ?? [];
  const men = name.length - 1;
  if (white === undefined || black === undefined || men < 3 || men > menMax || isStronger(black, white)) {
    return undefined;
  }
  const codes = [...codesOf(white, 0), ...codesOf(black, blackBit)].toSorted((a, b) => a - b);
  return { name, men, isSymmetric: white === black, codes };
}

/** More men come first. Between equally many men, the first difference decides. */
function isStronger(side: string, other: string): boolean {
  if (side.length !== other.length) {
    return side.length > other.length;
  }
  const at = [...side].findIndex((letter, index) => letter !== other[index]);
  return at >= 0 && letters.indexOf(side[at] as string) < letters.indexOf(other[at] as string);
}

const codesOf = (side: string, colorBit: number) =>
  [...side].map((letter) => (kingCode - letters.indexOf(letter)) | colorBit);

/** Returns the pieces of one side, such as `KQ`. */
export function piecesOf(board: Board, color: Color): string {
  let pieces = "";
  for (const [index, role] of rolesByStrength.entries()) {
    const count = board.pieces(color, role).size();
    pieces += count === 0 ? "" : (letters[index] as string).repeat(count);
  }
  return pieces;
}

const piecesByCode = Array.from({ length: 2 * blackBit }, (_, code) => ({
  color: (code & blackBit) === 0 ? ("white" as const) : ("black" as const),
  role: rolesByCode[(code & ~blackBit) - 1] as Role,
}));

/** By the code of a piece: a power of 8, so that the sum of all pieces tells up to seven equal pieces. A king has no weight. */
const weights = piecesByCode.map(({ role }, code) =>
  role === undefined || role === "king"
    ? 0
    : 8 ** ((code & ~blackBit) - 1 + ((code & blackBit) === 0 ? 0 : 5)),
);
const countedCodes = weights.flatMap((weight, code) => (weight === 0 ? [] : [code]));

/** Differs for different pieces. Equals {@link keyOfBoard} of a board with these pieces. */
export function keyOfCodes(codes: readonly number[]): number {
  return codes.reduce((sum, code) => sum + (weights[code] as number), 0);
}

export function keyOfBoard(board: Board): number {
  let key = 0;
  for (const code of countedCodes) {
    const { color, role } = pieceFromCode(code);
    // Most roles are on no square of a position with few men.
    key += board[role].isEmpty() ? 0 : (weights[code] as number) * board.pieces(color, role).size();
  }
  return key;
}

export function pieceFromCode(code: number): { readonly color: Color; readonly role: Role } {
  return piecesByCode[code] as { readonly color: Color; readonly role: Role };
}
