import { parseSquare, squareFile, squareRank } from "chessops/util";

/** A part of a text, in UTF-16 units. */
export interface Span {
  readonly from: number;
  /** Not in it any more. */
  readonly to: number;
}

/** Returns the part of a FEN that an error message of `src/chess/` is about; the whole FEN if the message names no part. */
export function faultPlace(text: string, message: string): Span {
  const fields = [...text.matchAll(/[^ \t\n\v\f\r]+/g)].map(({ index, 0: field }) => ({
    from: index,
    to: index + field.length,
  }));
  const whole = { from: 0, to: text.length };
  const board = fields[0] ?? whole;
  const stranger = /[^ -~]/u.exec(text.trim());
  if (message.startsWith("The FEN contains ") && stranger) {
    const from = text.indexOf(stranger[0]);
    return { from, to: from + stranger[0].length };
  }
  const rank = /^Rank (\d) of the board, '[^']*', (?:has '(.)')?/.exec(message);
  if (rank) {
    return placeInRank(text, board, 8 - Number(rank[1]), rank[2]);
  }
  const squares = /on ([a-h][1-8])(?: and ([a-h][1-8]) are next)?/.exec(message);
  if (squares?.[1]) {
    return placeOfSquare(text, board, squares[1]);
  }
  const field = fieldNames.findIndex((name) => name.test(message));
  if (field >= 0) {
    return fields[field] ?? whole;
  }
  if (/ has \d+ fields; a FEN has at most/.test(message)) {
    return { from: fields[6]?.from ?? 0, to: text.trimEnd().length };
  }
  if (/ characters; the maximum is /.test(message)) {
    return { from: 128, to: text.length };
  }
  return / are required/.test(message) ? { from: text.trimEnd().length, to: text.length + 1 } : whole;
}

/** By the order of the fields. */
const fieldNames = [
  /^The board field|^(White|Black) has |^There are /,
  /^The side to move|is in check although/,
  /^The castling field/,
  /^The en passant/,
  /^The half-move clock/,
  /^The move number/,
];

function placeInRank(text: string, board: Span, index: number, symbol: string | undefined): Span {
  const ranks = text.slice(board.from, board.to).split("/");
  const from = board.from + ranks.slice(0, index).join("/").length + (index > 0 ? 1 : 0);
  const rank = ranks[index] ?? "";
  const at = symbol === undefined ? -1 : rank.indexOf(symbol);
  return at < 0 ? { from, to: from + rank.length } : { from: from + at, to: from + at + 1 };
}

/** The letter of the piece that stands there. */
function placeOfSquare(text: string, board: Span, name: string): Span {
  const square = parseSquare(name) ?? 0;
  const rank = placeInRank(text, board, 7 - squareRank(square), undefined);
  let file = 0;
  for (let at = rank.from; at < rank.to; at++) {
    const letter = text[at] ?? "";
    if (file === squareFile(square) && !/\d/.test(letter)) {
      return { from: at, to: at + 1 };
    }
    file += /\d/.test(letter) ? Number(letter) : 1;
  }
  return rank;
}
