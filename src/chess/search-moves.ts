import type { Chess } from "chessops/chess";
import { violationsMax } from "../errors/errors.ts";
import { legalUcisOf } from "./legal-moves.ts";
import { explainMove, meaningOf, moveFromText, uciFromMove } from "./moves.ts";
import type { Position } from "./position.ts";

type SearchMovesReading =
  /** The moves in UCI, as an engine expects them for the variant, each once and in alphabetical order. */
  | { readonly kind: "moves"; readonly ucis: readonly string[] }
  | {
      readonly kind: "violations";
      readonly violations: readonly SearchMoveViolation[];
      /** The spelling of all texts; set if each can mean only one legal move. */
      readonly spelled?: readonly string[];
    };

interface SearchMoveViolation {
  /** The index of the text, from 0. */
  readonly index: number;
  readonly message: string;
  /** The moves in UCI that the text may mean, or all legal moves if it means none. */
  readonly legal: readonly string[];
}

/**
 * Reads moves in UCI or SAN. The order is fixed, because Stockfish 19 searches moves in the order in which they are named, and
 * another order can give another result.
 *
 * @param first the index of the first text in the request, for messages
 */
export function readSearchMoves(position: Position, texts: readonly string[], first = 0): SearchMovesReading {
  const { board, chess960 } = position;
  const legal = new Set(legalUcisOf(position));
  const inOrder = [...legal].toSorted();
  const named = new Set<string>();
  const violations: SearchMoveViolation[] = [];
  for (const [index, text] of texts.entries()) {
    const uci = legal.has(text) ? text : uciFromText(board, text, chess960);
    if (uci !== undefined) {
      named.add(uci);
      continue;
    }
    const { message, meant } = explainMove(board, text, `search_moves[${first + index}]`, chess960);
    violations.push({
      index,
      message: legal.size === 0 ? `${message} The game is over: there is none.` : message,
      legal: meant.length > 1 ? meant : inOrder,
    });
    if (violations.length === violationsMax) {
      break;
    }
  }
  if (violations.length === 0) {
    return { kind: "moves", ucis: [...named].toSorted() };
  }
  const spelled = texts.flatMap((text) => meaningOf(board, text)?.spelling ?? []);
  return { kind: "violations", violations, ...(spelled.length === texts.length && { spelled }) };
}

function uciFromText(chess: Chess, text: string, chess960: boolean): string | undefined {
  const move = moveFromText(chess, text);
  return move && uciFromMove(chess, move, chess960);
}
