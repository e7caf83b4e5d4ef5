import { violationsMax } from "../errors/errors.ts";
import { explainMove, legalUcisOf, meaningOf, moveFromText, uciFromMove } from "./moves.ts";
import type { Position } from "./position.ts";
import { removedRights } from "./validate-position.ts";

type SearchMovesReading =
  /** Moves in UCI, without duplicates and in alphabetical order. Castling is e1g1 in standard chess and e1h1 in Chess960. */
  | { readonly kind: "moves"; readonly ucis: readonly string[] }
  | {
      readonly kind: "violations";
      readonly violations: readonly SearchMoveViolation[];
      /**
       * All moves with corrected spelling, in the order of the request. Undefined if a text cannot mean exactly one legal move.
       */
      readonly spelled?: readonly string[];
    };

interface SearchMoveViolation {
  readonly index: number;
  readonly message: string;
  /** The legal moves that the text may mean, in UCI. Contains all legal moves if the text matches no legal move. */
  readonly legal: readonly string[];
}

/**
 * Returns the moves in alphabetical order, because the order can change the result of Stockfish 19.
 * `first` is the index of the first text in the request. Error messages contain this index.
 */
export function readSearchMoves(position: Position, texts: readonly string[], first = 0): SearchMovesReading {
  const { board, chess960 } = position;
  const moves = texts.map((text) => moveFromText(board, text));
  const ucis = moves.flatMap((move) => (move ? [uciFromMove(board, move, chess960)] : []));
  if (ucis.length === texts.length) {
    return { kind: "moves", ucis: [...new Set(ucis)].toSorted() };
  }
  const legal = legalUcisOf(position).toSorted();
  const wrong = [...texts.entries()].filter(([index]) => moves[index] === undefined).slice(0, violationsMax);
  const violations = wrong.map(([index, text]) => {
    const place = `search_moves[${first + index}]`;
    const { message, meant } = explainMove(board, text, place, chess960, removedRights(position, text));
    const isOver = legal.length === 0;
    return {
      index,
      message: isOver ? `${message} The game is over: there is none.` : message,
      legal: meant.length > 1 ? meant : legal,
    };
  });
  const spelled = texts.flatMap((text) => meaningOf(board, text)?.spelling ?? []);
  return { kind: "violations", violations, ...(spelled.length === texts.length && { spelled }) };
}
