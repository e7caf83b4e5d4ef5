import { Chess, validateFen } from "chess.js";
import { expect } from "vitest";

export interface Answer {
  readonly fen: string;
  readonly chess960: boolean;
  readonly turn: "white" | "black";
  readonly engine: { readonly id: string; readonly path: string } | null;
  readonly score: { readonly cp: number | null; readonly mate: number | null };
  readonly best_move: Move | null;
  readonly ponder: Move | null;
  readonly lines: readonly { readonly moves: readonly string[]; readonly san: readonly string[] }[];
  readonly terminal: { readonly reason: string; readonly winner: string | null } | null;
  readonly draw_claimable: string | null;
  readonly warnings: readonly { readonly code: string }[];
}

interface Move {
  readonly uci: string;
  readonly san: string;
  readonly capture: boolean;
  readonly check: boolean;
  readonly fen_after: string;
}

/** Expects that chess.js plays every move and writes the same notation. chess.js shares no code with the service. */
export function checkNotation(answer: Answer): void {
  const { fen, turn, best_move: best, ponder, lines } = answer;
  expect(validateFen(fen)).toEqual({ ok: true });
  const chess = new Chess(fen);
  expect(chess.turn()).toBe(turn[0]);
  for (const move of [best, ponder]) {
    if (move) {
      checkMove(chess, move);
    }
  }
  for (const { moves, san } of lines) {
    const board = new Chess(fen);
    const played = moves.map((uci) => board.move(uci));
    expect(played.map((move) => move.san)).toEqual(san);
    expect(played.map((move) => move.lan)).toEqual(moves);
  }
}

function checkMove(chess: Chess, move: Move): void {
  const played = chess.move(move.san, { strict: true });
  expect(played.lan).toBe(move.uci);
  expect(played.isCapture() || played.isEnPassant()).toBe(move.capture);
  expect(chess.inCheck()).toBe(move.check);
  expect(validateFen(move.fen_after)).toEqual({ ok: true });
  // 9999 is the greatest move number of a FEN, and later moves do not change it.
  expect(chess.fen().replace(/ 10000$/, " 9999")).toBe(move.fen_after);
}
