import { EMPTY_BOARD_FEN, INITIAL_BOARD_FEN } from "chessops/fen";
import type { Color, SquareName } from "chessops/types";
import { FILE_NAMES } from "chessops/types";
import { piecesOf } from "../board/squares.ts";

export const rightLetters = ["K", "Q", "k", "q"] as const;
export type RightLetter = (typeof rightLetters)[number];

/** A position that is being set up; need not be one that can be played. */
export interface SetUp {
  /** The first field of a FEN. */
  readonly board: string;
  readonly turn: Color;
  /** The letter by which a right is written: its own, or a rook's file in Chess960. */
  readonly rights: Readonly<Partial<Record<RightLetter, string>>>;
  /** `-` for none. */
  readonly enPassant: string;
}

export const startSetUp: SetUp = {
  board: INITIAL_BOARD_FEN,
  turn: "white",
  rights: { K: "K", Q: "Q", k: "k", q: "q" },
  enPassant: "-",
};

export const emptySetUp: SetUp = { board: EMPTY_BOARD_FEN, turn: "white", rights: {}, enPassant: "-" };

/** @param fen well formed */
export function setUpFromFen(fen: string): SetUp {
  const [board = EMPTY_BOARD_FEN, turn, castling = "-", enPassant = "-"] = fen.split(" ");
  const rights: Partial<Record<RightLetter, string>> = {};
  for (const letter of castling === "-" ? "" : castling) {
    rights[rightOf(letter, board)] = letter;
  }
  return { board, turn: turn === "b" ? "black" : "white", rights, enPassant };
}

/** The side of a right whose rook is named by its file. */
function rightOf(letter: string, board: string): RightLetter {
  const known = rightLetters.find((right) => right === letter);
  if (known) {
    return known;
  }
  const isWhite = letter === letter.toUpperCase();
  const king = [...piecesOf(board)].find(
    ([, piece]) => piece.role === "king" && piece.color === (isWhite ? "white" : "black"),
  );
  const isKingside = letter.toLowerCase() > (king?.[0][0] ?? "e");
  return isWhite ? (isKingside ? "K" : "Q") : isKingside ? "k" : "q";
}

/** Clocks begin anew: what is set up has no past. */
export function fenOfSetUp({ board, turn, rights, enPassant }: SetUp): string {
  const castling = rightLetters.map((right) => rights[right] ?? "").join("") || "-";
  return `${board} ${turn === "white" ? "w" : "b"} ${castling} ${enPassant} 0 1`;
}

/** Squares behind a pawn that may just have gone two steps. */
export function enPassantSquares({ board, turn }: SetUp): readonly SquareName[] {
  const pieces = piecesOf(board);
  const [from, behind, at] = turn === "white" ? ([7, 6, 5] as const) : ([2, 3, 4] as const);
  return FILE_NAMES.flatMap((file): SquareName[] => {
    const pawn = pieces.get(`${file}${at}`);
    const isPawn = pawn?.role === "pawn" && pawn.color !== turn;
    const isFree = !pieces.has(`${file}${behind}`) && !pieces.has(`${file}${from}`);
    return isPawn && isFree ? [`${file}${behind}`] : [];
  });
}
