import { EMPTY_BOARD_FEN, INITIAL_BOARD_FEN, makeBoardFen, parseBoardFen } from "chessops/fen";
import type { Color, Piece, SquareName } from "chessops/types";
import { FILE_NAMES } from "chessops/types";
import { parseSquare } from "chessops/util";
import { piecesOf } from "../board/squares.ts";

export const rightLetters = ["K", "Q", "k", "q"] as const;
type RightLetter = (typeof rightLetters)[number];

/** A position in the editor, which may break the rules of chess. */
export interface SetUp {
  /** The first field of a FEN. */
  readonly board: string;
  readonly turn: Color;
  /** The letters of the castling rights in a FEN. In Chess960, a letter can be the file of a rook. */
  readonly rights: Readonly<Partial<Record<RightLetter, string>>>;
  readonly enPassant: string;
}

export const startSetUp: SetUp = {
  board: INITIAL_BOARD_FEN,
  turn: "white",
  rights: { K: "K", Q: "Q", k: "k", q: "q" },
  enPassant: "-",
};

export const emptySetUp: SetUp = { board: EMPTY_BOARD_FEN, turn: "white", rights: {}, enPassant: "-" };

export const chess960Max = 959;

const knightPlaces = ["01", "02", "03", "04", "12", "13", "14", "23", "24", "34"];

/** `number` is Scharnagl's number from 0 to {@link chess960Max}; 518 is the standard start position. */
export function chess960SetUp(number: number): SetUp {
  const files = new Array<string>(8).fill("");
  const free = () => files.flatMap((piece, file) => (piece === "" ? [file] : []));
  let rest = number;
  const next = (choices: number) => {
    const choice = rest % choices;
    rest = Math.floor(rest / choices);
    return choice;
  };
  files[2 * next(4) + 1] = "b";
  files[2 * next(4)] = "b";
  files[free()[next(6)] ?? 0] = "q";
  const [first, second] = [...(knightPlaces[rest] ?? "")].map((place) => free()[Number(place)] ?? 0);
  files[first ?? 0] = "n";
  files[second ?? 0] = "n";
  for (const piece of "rkr") {
    files[files.indexOf("")] = piece;
  }
  const rank = files.join("");
  return { ...startSetUp, board: `${rank}/pppppppp/8/8/8/8/PPPPPPPP/${rank.toUpperCase()}` };
}

export function hasBoard(fen: string): boolean {
  return parseBoardFen(fen.trim().split(" ")[0] ?? "").isOk;
}

/** The first field of `fen` must be valid. */
export function setUpFromFen(fen: string): SetUp {
  const [board = EMPTY_BOARD_FEN, turn, castling = "-", enPassant = "-"] = fen.trim().split(/\s+/);
  const rights: Partial<Record<RightLetter, string>> = {};
  for (const letter of castling === "-" ? "" : castling) {
    rights[rightOf(letter, board)] = letter;
  }
  return { board, turn: turn === "b" ? "black" : "white", rights, enPassant };
}

/** In Chess960, `letter` can be the file of a rook. */
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

/** Resets both move counters, because the position has no earlier moves. */
export function fenOfSetUp({ board, turn, rights, enPassant }: SetUp): string {
  const castling = rightLetters.map((right) => rights[right] ?? "").join("") || "-";
  return `${board} ${turn === "white" ? "w" : "b"} ${castling} ${enPassant} 0 1`;
}

/** Returns the first field of a FEN. */
export function boardWith(boardFen: string, square: SquareName, piece: Piece | undefined): string {
  const board = parseBoardFen(boardFen).unwrap();
  board.take(parseSquare(square));
  if (piece) {
    board.set(parseSquare(square), piece);
  }
  return makeBoardFen(board);
}

/** Returns the squares that are possible in the en passant field of the FEN. */
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
