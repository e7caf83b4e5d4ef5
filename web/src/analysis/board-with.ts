import { makeBoardFen, parseBoardFen } from "chessops/fen";
import type { Piece, SquareName } from "chessops/types";
import { parseSquare } from "chessops/util";

/** A board, as the first field of a FEN, with another piece on a square, or with none. */
export function boardWith(boardFen: string, square: SquareName, piece: Piece | undefined): string {
  const board = parseBoardFen(boardFen).unwrap();
  board.take(parseSquare(square));
  if (piece) {
    board.set(parseSquare(square), piece);
  }
  return makeBoardFen(board);
}
