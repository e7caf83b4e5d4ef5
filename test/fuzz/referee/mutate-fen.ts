import type { createRandom } from "../../support/random.ts";

type Random = ReturnType<typeof createRandom>;

/** 64 squares from a8 to h1. `1` is an empty square. */
type Squares = string[];

/** Changes a FEN one to four times. The result is a valid FEN or an invalid FEN. */
export function mutateFen(fen: string, random: Random): string {
  let mutant = fen;
  const changes = random.pick([1, 1, 1, 2, 2, 3, 4]);
  for (let change = 0; change < changes; change++) {
    mutant = random.pick(mutations)(mutant, random);
  }
  return mutant;
}

type Mutation = (fen: string, random: Random) => string;

const pieces = [..."KQRBNPkqrbnp"];
const piecesButKings = [..."QRBNPqrbnp"];
const fenCharacters = [..."KQRBNPkqrbnp12345678/ wb-abcdefgh09"];
const strangeCharacters = [
  ...'\t\n\r\v\f\0\u00a0\u2028\u0085\ufeff٣８🐴–~+_.;"\\xXzZ09',
  "\r\n",
  "  ",
  " moves e2e4",
];

const editText: Mutation = (fen, random) => {
  const at = random.below(fen.length + 1);
  const character = random.pick(random.below(4) === 0 ? strangeCharacters : fenCharacters);
  const other = random.below(fen.length + 1);
  const edits = [
    () => fen.slice(0, at) + character + fen.slice(at),
    () => fen.slice(0, at) + character + fen.slice(at + 1),
    () => fen.slice(0, at) + fen.slice(at + 1),
    () => fen.slice(0, at) + fen.slice(Math.min(at, other), Math.max(at, other)) + fen.slice(at),
    () => fen.slice(0, at),
  ];
  return random.pick(edits)();
};

/** Changes the squares, and writes a board field with correct syntax. */
function onBoard(change: (squares: Squares, random: Random) => void): Mutation {
  return (fen, random) => {
    const [board = "", ...rest] = fen.split(" ");
    const squares = [...board.replace(/[1-8]/g, (digit) => "1".repeat(Number(digit))).replaceAll("/", "")];
    if (squares.length !== 64) {
      return fen;
    }
    change(squares, random);
    const ranks = Array.from({ length: 8 }, (_, rank) => squares.slice(rank * 8, rank * 8 + 8).join(""));
    const written = ranks.join("/").replace(/1+/g, (run) => String(run.length));
    return [written, ...rest].join(" ");
  };
}

const putPiece = onBoard((squares, random) => {
  squares[random.below(64)] = random.pick(pieces);
});

const takePieces = onBoard((squares, random) => {
  const share = random.pick([0.05, 0.3, 0.8, 1]);
  for (const [square, piece] of squares.entries()) {
    if (piece.toLowerCase() !== "k" && random.below(1000) < share * 1000) {
      squares[square] = "1";
    }
  }
});

const sprinkle = onBoard((squares, random) => {
  const some = [random.pick(piecesButKings), random.pick(piecesButKings)];
  for (let count = random.pick([1, 2, 4, 8, 16]); count > 0; count--) {
    const square = random.below(64);
    if (squares[square]?.toLowerCase() !== "k") {
      squares[square] = random.pick(some);
    }
  }
});

const movePiece = onBoard((squares, random) => {
  const [from, to] = [random.below(64), random.below(64)];
  squares[to] = squares[from] ?? "1";
  squares[from] = "1";
});

/** Places kings and rooks on their first ranks. Castling is possible or nearly possible. */
const arrangeBackRanks = onBoard((squares, random) => {
  for (const [start, king, rook] of [
    [0, "k", "r"],
    [56, "K", "R"],
  ] as const) {
    const old = squares.indexOf(king);
    if (old >= 0) {
      squares[old] = "1";
    }
    const placed = random.pick([
      "r1111k1r",
      "r111k11r",
      "rr11k1rr",
      "1r1k1r11",
      "kr11111r",
      "r11111rk",
      "1k1r111r",
      "r1r1k111",
    ]);
    for (const [file, piece] of [...placed].entries()) {
      const mapped =
        piece === "k" ? king : piece === "r" ? rook : random.pick(["1", "1", squares[start + file] ?? "1"]);
      squares[start + file] = mapped.toLowerCase() === "p" ? "1" : mapped;
    }
  }
});

function onField(index: number, change: (field: string, random: Random) => string): Mutation {
  return (fen, random) => {
    const fields = fen.split(" ");
    fields[index] = change(fields[index] ?? "", random);
    return fields.join(" ");
  };
}

const flipTurn = onField(1, (turn, random) => random.pick([turn === "w" ? "b" : "w", "w", "b", "W", "x"]));

const castlingFields = [
  "KQkq",
  "-",
  "KQ",
  "kq",
  "K",
  "q",
  "Qk",
  "kqKQ",
  "HAha",
  "AHah",
  "KK",
  "KH",
  "KQkqA",
  "KQKQ",
  "Z",
];
const changeCastling = onField(2, (_, random) => {
  const letters = Array.from({ length: random.below(5) }, () => random.pick([..."KQkqABCDEFGHabcdefgh"]));
  return random.pick([random.pick(castlingFields), letters.join(""), `${letters.join("")}-`]);
});

const changeEnPassant = onField(3, (_, random) =>
  random.pick([
    "-",
    random.pick([..."abcdefgh"]) + random.pick(["3", "6", "3", "6", "3", "6", "1", "8", "9"]),
    "e",
    "E3",
    "e3e3",
  ]),
);

/**
 * Places a pawn that seems to have just advanced two squares, and an enemy pawn beside this pawn. In most cases, the advance
 * was possible.
 */
const stepPawn: Mutation = (fen, random) => {
  const fields = fen.split(" ");
  const white = fields[1] === "b";
  const [file, side] = [random.below(8), random.pick([-1, 1])];
  const [passed, at, from] = white ? [40, 32, 48] : [16, 24, 8];
  const mutant = onBoard((squares) => {
    squares[at + file] = white ? "P" : "p";
    if (file + side >= 0 && file + side < 8) {
      squares[at + file + side] = white ? "p" : "P";
    }
    for (const start of [passed, from]) {
      if (random.below(8) > 0) {
        squares[start + file] = "1";
      }
    }
  })(fen, random).split(" ");
  mutant[3] = `${"abcdefgh"[file]}${white ? 3 : 6}`;
  return mutant.join(" ");
};

const clocks = [
  "0",
  "1",
  "4",
  "99",
  "100",
  "149",
  "150",
  "9999",
  "10000",
  "-1",
  "007",
  "00000",
  "+1",
  "1e3",
  "1.5",
  "1_0",
  "0x1",
  "",
  "-",
  "٣",
  "999999999999",
];
const changeHalfmoves = onField(4, (_, random) =>
  random.pick([random.pick(clocks), String(random.below(200))]),
);
const changeFullmoves = onField(5, (_, random) =>
  random.pick([random.pick(clocks), String(random.below(300))]),
);

const changeFields: Mutation = (fen, random) => {
  const fields = fen.split(" ");
  const [at, other] = [random.below(fields.length), random.below(fields.length)];
  const field = fields[at] ?? "";
  const changes = [
    () => fields.slice(0, at + 1),
    () => fields.with(at, fields[other] ?? "").with(other, field),
    () => fields.toSpliced(at, 0, field),
    () => fields.toSpliced(at, 1),
    () => fields.toSpliced(at, 0, ""),
    () => ["", ...fields, ""],
  ];
  return random
    .pick(changes)()
    .join(random.pick([" ", " ", " ", "  ", "\t", "\n", "\u00a0"]));
};

const mutations: readonly Mutation[] = [
  editText,
  editText,
  putPiece,
  putPiece,
  takePieces,
  sprinkle,
  movePiece,
  movePiece,
  arrangeBackRanks,
  flipTurn,
  changeCastling,
  changeCastling,
  changeEnPassant,
  stepPawn,
  changeHalfmoves,
  changeFullmoves,
  changeFields,
];
