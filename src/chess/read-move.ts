import type { Chess } from "chessops/chess";
import { parseSan } from "chessops/san";
import { CASTLING_SIDES, isDrop, type NormalMove, type Square } from "chessops/types";
import { kingCastlesTo, makeSquare, makeUci, parseUci } from "chessops/util";

/** A legal move of a position. Castling is always king takes own rook, in standard chess too. */
export type LegalMove = NormalMove;

/** The one legal move that a text in UCI or SAN names. */
export function moveFromText(chess: Chess, text: string): LegalMove | undefined {
  return moveFromUci(chess, text) ?? moveFromSan(chess, text);
}

/** Reads UCI; castling may be written e1g1 or e1h1, whatever the variant. */
export function moveFromUci(chess: Chess, text: string): LegalMove | undefined {
  if (!/^([a-h][1-8]){2}[qrbnQRBN]?$/.test(text)) {
    return undefined;
  }
  const move = parseUci(text);
  if (move === undefined || isDrop(move)) {
    return undefined;
  }
  if (!chess.board.king.has(move.from)) {
    return chess.isLegal(move) ? move : undefined;
  }

  // Not by chessops' isLegal(): it takes any king move of two squares, like f1d1 in Chess960, for castling.
  const to = rookOfCastling(chess, move.from, move.to) ?? move.to;
  const legal = move.promotion === undefined && chess.dests(move.from).has(to);
  return legal ? { from: move.from, to } : undefined;
}

/** Reads SAN, with or without check signs, castling with letters or zeros. */
export function moveFromSan(chess: Chess, text: string): LegalMove | undefined {
  const san = /^0-0(-0)?[+#]?$/.test(text) ? text.replaceAll("0", "O") : text;
  const move = parseSan(chess, san);
  if (move === undefined || isDrop(move)) {
    return undefined;
  }
  // chessops would take Kh1 for castling when the king stands beside its rook on h1.
  return isCastling(chess, move) === san.startsWith("O") ? move : undefined;
}

/** The legal moves that a text in SAN may mean; more than one where it does not say which of two pieces moves. */
export function movesFromSan(chess: Chess, text: string): readonly LegalMove[] {
  const [, role, file = "", rank = "", target] =
    /^([NBRQ])([a-h])?([1-8])?[-x]?([a-h][1-8])[+#]?$/.exec(text) ?? [];
  const origins = role === undefined ? [] : [...chess.board[chess.turn]].map(makeSquare);
  return origins.flatMap((origin) => {
    const meant = origin.includes(file) && origin.includes(rank);
    const move = meant ? moveFromSan(chess, `${role}${origin}${target}`) : undefined;
    return move ? [move] : [];
  });
}

/** Before the move is played. */
export function isCastling(chess: Chess, move: LegalMove): boolean {
  return chess.board[chess.turn].has(move.to);
}

/** Where the king goes to in the notation that an engine expects: e1g1 in standard chess, e1h1 in Chess960. */
export function targetSquare(chess: Chess, move: LegalMove, chess960: boolean): Square {
  if (chess960 || !isCastling(chess, move)) {
    return move.to;
  }
  return kingCastlesTo(chess.turn, move.to < move.from ? "a" : "h");
}

/** Before the move is played. */
export function uciFromMove(chess: Chess, move: LegalMove, chess960: boolean): string {
  return makeUci({ ...move, to: targetSquare(chess, move, chess960) });
}

/** The rook of a castling that is written as the king's own move; one square would be an ordinary king move. */
function rookOfCastling(chess: Chess, from: Square, to: Square): Square | undefined {
  if (Math.abs(to - from) < 2) {
    return undefined;
  }
  const side = CASTLING_SIDES.find((side) => kingCastlesTo(chess.turn, side) === to);
  return side && chess.castles.rook[chess.turn][side];
}
