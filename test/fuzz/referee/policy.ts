import type { Verdict } from "./referee.ts";

/** A FEN, its parts, and the verdict of python-chess. */
export interface Case {
  readonly fen: string;
  /** The FEN without ASCII white space at both ends. */
  readonly text: string;
  /** The parts between spaces. A valid FEN has at most six. */
  readonly fields: readonly string[];
  readonly chess960: boolean;
  readonly verdict: Verdict | undefined;
}

/** The bits of `Board.status()` in python-chess that this list of differences uses. */
const statusBits = {
  badCastlingRights: 1 << 8,
  invalidEpSquare: 1 << 9,
  tooManyCheckers: 1 << 15,
  impossibleCheck: 1 << 16,
} as const;

/**
 * One intended difference between Kibitz and python-chess:
 * - `refuses`: Kibitz refuses the FEN.
 * - `reads`: Kibitz reads the FEN, and python-chess gets the FEN of `rewrite`.
 * - `corrects`, `accepts`: python-chess reports the status `bits`, and Kibitz corrects or accepts the position.
 */
export type Row = {
  readonly id: string;
  /** Describes what python-chess does. */
  readonly referee: string;
  /** The sentence in the documentation that says that the two results must differ. */
  readonly contract: string;
} & (
  | {
      readonly kibitz: "refuses";
      readonly code: "invalid_fen" | "illegal_position";
      readonly when: (asked: Case) => boolean;
    }
  | {
      readonly kibitz: "reads";
      readonly when: (asked: Case) => boolean;
      /** Returns the FEN of the same position in a form that python-chess reads. */
      readonly rewrite: (asked: Case) => string;
    }
  | { readonly kibitz: "corrects"; readonly bits: number; readonly notice: string }
  | { readonly kibitz: "accepts"; readonly bits: number }
);

/** All intended differences. A difference that is not in this list fails the test. */
export const policy: readonly Row[] = [
  {
    id: "long",
    referee: "reads texts of any length",
    kibitz: "refuses",
    code: "invalid_fen",
    contract: "`fen`: FEN, X-FEN or Shredder-FEN, ≤ 128 characters.",
    when: ({ fen }) => fen.length > 128,
  },
  {
    id: "separators",
    referee: "splits at any white space, Unicode's too, and reads the digits of all scripts",
    kibitz: "refuses",
    code: "invalid_fen",
    contract:
      "ASCII white space at the ends is trimmed, fields are separated by spaces, any other white space or control character is 400 `invalid_fen`.",
    when: ({ text }) => /[^\x20-\x7e]/.test(text),
  },
  {
    id: "few-fields",
    referee: "fills in whatever is missing behind the board",
    kibitz: "refuses",
    code: "invalid_fen",
    contract: "Four or five fields are completed, fewer are 400 with a `suggested_request`.",
    when: ({ fields }) => fields.length < 4,
  },
  {
    id: "clocks",
    referee: "reads what Python's int() reads: `+1`, `1_0`, numbers of any size",
    kibitz: "refuses",
    code: "invalid_fen",
    contract: "Clocks are 0–9999.",
    when: ({ fields }) => fields.slice(4, 6).some((clock) => !/^[0-9]{1,4}$/.test(clock)),
  },
  {
    id: "promoted-marks",
    referee: "reads `Q~` as a promoted queen",
    kibitz: "refuses",
    code: "invalid_fen",
    contract: "`fen`: FEN, X-FEN or Shredder-FEN; none of them has the mark.",
    when: ({ fields }) => fields[0]?.includes("~") === true,
  },
  {
    id: "right-twice",
    referee:
      "reads `KK`, and `KH` where both are one rook; says BAD_CASTLING_RIGHTS of two rooks on one side",
    kibitz: "refuses",
    code: "invalid_fen",
    contract: "`fen`: FEN, X-FEN or Shredder-FEN; in all of them a side has one right to each side at most.",
    when: (asked) => {
      const letters = [...castlingOf(asked)];
      const sides = letters.flatMap((letter) => sideOfRight(asked, letter) ?? []);
      return new Set(letters).size < letters.length || new Set(sides).size < sides.length;
    },
  },
  {
    id: "ep-rank",
    referee: "INVALID_EP_SQUARE",
    kibitz: "refuses",
    code: "invalid_fen",
    contract: "An en passant square on the wrong rank is 400.",
    when: ({ fields: [, turn, , ep = "-"] }) =>
      /^[a-h][1-8]$/.test(ep) && ep[1] !== (turn === "w" ? "6" : "3"),
  },
  {
    id: "promoted-pieces",
    referee: "counts pieces and pawns of a side, and not what promotion can explain",
    kibitz: "refuses",
    code: "illegal_position",
    contract: "Refused (400 `illegal_position`): more promoted pieces than missing pawns.",
    when: ({ fields: [board = ""] }) =>
      hasTooManyPromoted(board, "QRRBBNNP") || hasTooManyPromoted(board, "qrrbbnnp"),
  },
  {
    id: "castling-letters",
    referee: "wants White's letters first, and two a side at most",
    kibitz: "reads",
    contract: "A right without its king or rook in place is removed; no rule for the order of the letters.",
    when: (asked) =>
      !/^(-|[KQA-H]{0,2}[kqa-h]{0,2})$/.test(asked.fields[2] ?? "-") && /^[KQA-H]+$/i.test(castlingOf(asked)),
    rewrite: onlyRightsInPlace,
  },
  {
    id: "king-on-the-edge",
    referee: "lets a king on the a- or h-file castle in Chess960",
    kibitz: "reads",
    contract:
      "A right without its king or rook in place is removed: a Chess960 king begins between its rooks, and Stockfish drops the right.",
    when: (asked) =>
      isChess960(asked) &&
      /^[KQA-H]+$/i.test(castlingOf(asked)) &&
      [..."Kk"].some(
        (king) =>
          [0, 7].includes(fileOnBackRank(asked, king)) &&
          [...castlingOf(asked)].some((letter) => isWhite(letter) === isWhite(king)),
      ),
    rewrite: onlyRightsInPlace,
  },
  {
    id: "castling-rights",
    referee: "BAD_CASTLING_RIGHTS",
    kibitz: "corrects",
    bits: statusBits.badCastlingRights,
    notice: "castling_rights_removed",
    contract: "A right without its king or rook in place is removed (`castling_rights_removed`).",
  },
  {
    id: "ep-square",
    referee: "INVALID_EP_SQUARE, with the square on the right rank",
    kibitz: "corrects",
    bits: statusBits.invalidEpSquare,
    notice: "ep_square_removed",
    contract:
      "An en passant square on the right rank without a legal capture is removed (`ep_square_removed`).",
  },
  {
    id: "impossible-check",
    referee: "IMPOSSIBLE_CHECK, TOO_MANY_CHECKERS",
    kibitz: "accepts",
    bits: statusBits.impossibleCheck | statusBits.tooManyCheckers,
    contract: "What an engine can search is answered, even if no game leads there.",
  },
];

/**
 * Returns true if the request says that the position is Chess960, or if a castling right is written as the letter of a file.
 */
export function isChess960(asked: Pick<Case, "fields" | "chess960">): boolean {
  return asked.chess960 || /[A-H]/i.test(castlingOf(asked));
}

/** Returns the castling letters, or an empty string for `-`. */
export function castlingOf({ fields: [, , castling = "-"] }: Pick<Case, "fields">): string {
  return castling === "-" ? "" : castling;
}

function isWhite(letter: string): boolean {
  return letter === letter.toUpperCase();
}

function backRankOf({ fields: [board = ""] }: Pick<Case, "fields">, white: boolean): string {
  const rank = board.split("/").at(white ? -1 : 0) ?? "";
  return rank.replace(/[1-8]/g, (digit) => ".".repeat(Number(digit)));
}

function fileOnBackRank(asked: Case, king: string): number {
  return backRankOf(asked, isWhite(king)).indexOf(king);
}

/**
 * Returns the color and the side of a castling right, for example `wk` for White's kingside. Returns undefined if castling is
 * impossible from the squares of the king and the rook.
 */
function sideOfRight(asked: Case, letter: string): string | undefined {
  const white = isWhite(letter);
  const rank = backRankOf(asked, white);
  const [mark, rooks] = white ? ["K", "R"] : ["k", "r"];
  // Castling is impossible with two kings of one color. Such a position is rejected for its kings.
  const king = asked.fields[0]?.split(mark).length === 2 ? rank.indexOf(mark) : -1;
  const wing = letter.toUpperCase();
  const rook =
    wing === "K" ? rank.lastIndexOf(rooks) : wing === "Q" ? rank.indexOf(rooks) : "ABCDEFGH".indexOf(wing);
  const kingside = rook > king;
  const home = isChess960(asked) ? king > 0 && king < 7 : king === 4 && rook === (kingside ? 7 : 0);
  const wanted = wing === "K" ? kingside : wing === "Q" ? !kingside : true;
  return rook >= 0 && rank[rook] === rooks && home && wanted
    ? `${white ? "w" : "b"}${kingside ? "k" : "q"}`
    : undefined;
}

function onlyRightsInPlace(asked: Case): string {
  const inPlace = [...castlingOf(asked)].filter((letter) => sideOfRight(asked, letter) !== undefined);
  const letters = [...inPlace.filter(isWhite), ...inPlace.filter((letter) => !isWhite(letter))].join("");
  return asked.fields.with(2, letters || "-").join(" ");
}

/**
 * Returns true if a side has more promoted pieces than missing pawns. `side` has the initial pieces, such as
 * `RNBQKBNRPPPPPPPP`.
 */
function hasTooManyPromoted(board: string, side: string): boolean {
  const pawn = side.at(-1) ?? "";
  const count = (piece: string) => board.split(piece).length - 1;
  const beyond = [...new Set(side)]
    .filter((piece) => piece !== pawn)
    .reduce((sum, piece) => sum + Math.max(0, count(piece) - (side.split(piece).length - 1)), 0);
  return beyond > Math.max(0, 8 - count(pawn));
}
