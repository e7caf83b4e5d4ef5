import type { Chess } from "chessops/chess";
import { SquareSet } from "chessops/squareSet";
import type { Role } from "chessops/types";
import { faultsMax } from "../errors/errors.ts";
import { explainMove, type LegalMove, moveFromText, uciFromMove } from "./moves.ts";
import type { Position } from "./position.ts";

/** Some of a position's legal moves, or what is wrong with the texts that should name them. */
type SearchMovesReading =
  /** UCI as an engine in the right mode expects it, each move once, in alphabetical order. */
  | { readonly kind: "moves"; readonly ucis: readonly string[] }
  | { readonly kind: "faults"; readonly faults: readonly SearchMoveFault[] };

interface SearchMoveFault {
  /** Which of the texts, from 0. */
  readonly index: number;
  readonly message: string;
  /** Moves that would be accepted, in UCI: those that the text may mean, else all; none if the game is over. */
  readonly legal: readonly string[];
}

/**
 * Reads moves that are to be searched, UCI or SAN. Always in one order and each once: Stockfish 19 searches them as they
 * are named, and says something else if that differs.
 */
export function readSearchMoves({ board, chess960 }: Position, texts: readonly string[]): SearchMovesReading {
  const legal = legalUcisOf(board, chess960);
  const inOrder = [...legal].toSorted();
  const named = new Set<string>();
  const faults: SearchMoveFault[] = [];
  for (const [index, text] of texts.entries()) {
    const uci = legal.has(text) ? text : uciFromText(board, text, chess960);
    if (uci !== undefined) {
      named.add(uci);
      continue;
    }
    const { message, meant } = explainMove(board, text, `search_moves[${index}]`, chess960);
    faults.push({
      index,
      message: legal.size === 0 ? `${message} The game is over: there is none.` : message,
      legal: meant.length > 1 ? meant : inOrder,
    });
    if (faults.length === faultsMax) {
      break;
    }
  }
  return faults.length > 0 ? { kind: "faults", faults } : { kind: "moves", ucis: [...named].toSorted() };
}

/** All legal moves, UCI as an engine in the right mode expects it; none where the game is over by mate or stalemate. */
export function legalMoves({ board, chess960 }: Position): readonly string[] {
  return [...legalUcisOf(board, chess960)];
}

function uciFromText(chess: Chess, text: string, chess960: boolean): string | undefined {
  const move = moveFromText(chess, text);
  return move && uciFromMove(chess, move, chess960);
}

const promotions: readonly Role[] = ["queen", "rook", "bishop", "knight"];

function legalUcisOf(chess: Chess, chess960: boolean): ReadonlySet<string> {
  const moves: LegalMove[] = [];
  for (const [from, targets] of chess.allDests()) {
    const isPawn = chess.board.pawn.has(from);
    for (const to of targets) {
      const promotes = isPawn && SquareSet.backranks().has(to);
      moves.push(...(promotes ? promotions.map((promotion) => ({ from, to, promotion })) : [{ from, to }]));
    }
  }
  return new Set(moves.map((move) => uciFromMove(chess, move, chess960)));
}
