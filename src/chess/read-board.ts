import type { Board } from "chessops/board";
import { parseBoardFen } from "chessops/fen";
import { quote } from "./quote.ts";

/** `problems` are sentences for the caller, one a rank at most. */
export type BoardReading =
  | { kind: "board"; board: Board }
  | { kind: "problems"; problems: readonly string[] };

/**
 * Reads the first field of a FEN, by the standard's letter. chessops reads more than that ("44" for eight empty
 * squares, "~" for promoted pieces) and only says "board" when it refuses, so what is wrong is found here.
 */
export function readBoard(text: string): BoardReading {
  const ranks = text.split("/");
  if (ranks.length !== 8) {
    const count = ranks.length === 1 ? "1 rank" : `${ranks.length} ranks`;
    return problem(`The board field ${quote(text)} has ${count}; a board has 8, separated by '/'.`);
  }
  const problems = ranks.flatMap((rank, index) => {
    const wrong = problemOfRank(rank);
    return wrong === undefined ? [] : [`Rank ${8 - index} of the board, ${quote(rank)}, ${wrong}.`];
  });
  if (problems.length > 0) {
    return { kind: "problems", problems };
  }
  return parseBoardFen(text).unwrap<BoardReading, BoardReading>(
    (board) => ({ kind: "board", board }),
    () => problem("The board field cannot be read."),
  );
}

function problem(sentence: string): BoardReading {
  return { kind: "problems", problems: [sentence] };
}

function problemOfRank(rank: string): string | undefined {
  const stranger = /[^1-8KQRBNPkqrbnp]/.exec(rank);
  if (stranger) {
    return `has '${stranger[0]}', which is neither a piece (KQRBNP, kqrbnp) nor a digit 1-8`;
  }
  if (/\d\d/.test(rank)) {
    return "has two digits in a row; adjacent empty squares are written as one number";
  }
  const squares = [...rank].reduce((sum, symbol) => sum + (Number(symbol) || 1), 0);
  if (squares !== 8) {
    return `describes ${squares} squares; a rank has 8`;
  }
  return undefined;
}
