import type { Color, Piece, SquareName } from "chessops/types";
import type { MoveDescription } from "../../../src/chess/moves.ts";
import { piecesOf } from "./squares.ts";

export function colourName(color: Color): string {
  return color === "white" ? "White" : "Black";
}

export function pieceInWords({ color, role }: Piece): string {
  return `${colourName(color)} ${role}`;
}

export function squareInWords(square: SquareName, piece: Piece | undefined): string {
  return `${square}, ${piece ? pieceInWords(piece) : "empty"}`;
}

const order = ["king", "queen", "rook", "bishop", "knight", "pawn"] as const;

/** Returns, for example, `White: king e1, rooks a1 h1. Black: king e8.` */
export function positionInWords(fen: string): string {
  const pieces = piecesOf(fen);
  const sides = (["white", "black"] as const).map((color) => {
    const kinds = order.flatMap((role) => {
      const squares = [...pieces].filter(([, piece]) => piece.color === color && piece.role === role);
      const names = squares.map(([square]) => square).toSorted();
      return names.length === 0 ? [] : [`${role}${names.length > 1 ? "s" : ""} ${names.join(" ")}`];
    });
    return `${colourName(color)}: ${kinds.join(", ") || "nothing"}.`;
  });
  return sides.join(" ");
}

/** Returns, for example, `White knight g5 takes f7, check`. */
export function moveInWords(move: MoveDescription, mover: Color): string {
  const { san, from, to, capture, castling, promotion } = move;
  const way = castling
    ? `castles ${castling}`
    : `${roleOfSan(san)} ${from} ${capture ? "takes" : "to"} ${to}${promotion ? `, becomes a ${promotion}` : ""}`;
  const then = san.endsWith("#") ? ", checkmate" : move.check ? ", check" : "";
  return `${colourName(mover)} ${way}${then}`;
}

function roleOfSan(san: string): Piece["role"] {
  const roles = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight" } as const;
  return Object.entries(roles).find(([letter]) => san.startsWith(letter))?.[1] ?? "pawn";
}
