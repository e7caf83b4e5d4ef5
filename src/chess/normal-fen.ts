import type { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { SquareSet } from "chessops/squareSet";
import { COLORS, FILE_NAMES } from "chessops/types";
import { squareFile } from "chessops/util";

/**
 * The one way a position is written: six fields, the en passant square only where a capture on it is legal.
 * Castling is `KQkq` in standard chess and file letters (Shredder-FEN) in Chess960, so that a FEN from an answer
 * means the same when it is sent back alone.
 */
export function normalFen(chess: Chess, chess960: boolean): string {
  // toSetup() would cut the half-move clock off at 150.
  const fen = makeFen({ ...chess.toSetup(), halfmoves: chess.halfmoves });
  if (!chess960) {
    return fen;
  }
  const [board, turn, , ...rest] = fen.split(" ");
  return [board, turn, shredderCastling(chess), ...rest].join(" ");
}

/** What makes two positions the same for repetition: board, turn, castling rights, legal en passant. */
export function repetitionKey(chess: Chess): string {
  return makeFen(chess.toSetup(), { epd: true });
}

function shredderCastling(chess: Chess): string {
  const letters = COLORS.flatMap((color) =>
    [...chess.castles.castlingRights.intersect(SquareSet.backrank(color)).reversed()].map((rook) => {
      const file = FILE_NAMES[squareFile(rook)] ?? "";
      return color === "white" ? file.toUpperCase() : file;
    }),
  );
  return letters.join("") || "-";
}
