import type { Piece, SquareName } from "chessops/types";
import type { MoveDescription } from "../../../src/chess/moves.ts";
import { texts } from "../texts.ts";
import { piecesOf } from "./squares.ts";

const words = texts.board;

export function pieceInWords({ color, role }: Piece): string {
  return words.piece(words.colours[color], words.roles[role]);
}

/** Returns the words that a screen reader speaks for a square. */
export function squareInWords(square: SquareName, piece: Piece | undefined): string {
  return `${square}, ${piece ? pieceInWords(piece) : words.empty}`;
}

const order = ["king", "queen", "rook", "bishop", "knight", "pawn"] as const;

/** Lists the pieces of both sides with their squares: `White: king e1, rooks a1 h1. Black: king e8.` */
export function positionInWords(fen: string): string {
  const pieces = piecesOf(fen);
  const sides = (["white", "black"] as const).map((color) => {
    const kinds = order.flatMap((role) => {
      const squares = [...pieces].filter(([, piece]) => piece.color === color && piece.role === role);
      const names = squares.map(([square]) => square).toSorted();
      return names.length === 0 ? [] : [`${words.kind(role, names.length)} ${names.join(" ")}`];
    });
    return `${words.colours[color]}: ${kinds.join(", ") || words.nothing}.`;
  });
  return sides.join(" ");
}

/** A move as it is said: `White knight takes f7, check`. */
export function moveInWords(move: MoveDescription, mover: "white" | "black"): string {
  const colour = words.colours[mover];
  const role = roleOfSan(move.san);
  const what =
    move.castling === undefined
      ? words.moves(colour, words.roles[role], move.from, move.to, move.capture)
      : words.castles(colour, move.castling);
  const promotes = move.promotion ? words.promotes(words.roles[move.promotion]) : "";
  const then = move.san.endsWith("#") ? words.mate : move.check ? words.check : "";
  return `${what}${promotes}${then}`;
}

function roleOfSan(san: string): Piece["role"] {
  const roles = { K: "king", Q: "queen", R: "rook", B: "bishop", N: "knight" } as const;
  return Object.entries(roles).find(([letter]) => san.startsWith(letter))?.[1] ?? "pawn";
}
