import { readFileSync } from "node:fs";
import { makePgn, parsePgn } from "chessops/pgn";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inOneGo } from "../../src/chess/in-one-go.ts";
import type { MoveDescription } from "../../src/chess/moves.ts";
import { gameFromPgn, playMoves } from "../../src/game/game.ts";
import { quotes } from "../../src/game/pgn-patterns.ts";
import { readPgn } from "../../src/game/read-pgn.ts";
import { startFen } from "../chess/validated.ts";
import { errorOf, gameOf, gameOfMoves, sansOf } from "./games.ts";
import { pgnTexts } from "./random-games.ts";

const rounds = "Nf3 Nf6 Ng1 Ng8 ".repeat(16_000);

test("a PGN keeps its comments, variations, glyphs, clocks and unknown commands", () => {
  const { tree, clocksMs } = gameOf(
    "{first} 1. e4 {[%clk 0:01:02.5] [%foo bar]} (1. d4 {a} d5 $6 (1... Nf6)) 1... e5 {b} {c} ; d }\n *",
  );
  expect(tree.comments).toEqual(["first"]);
  const [e4, d4] = tree.moves.children;
  expect(e4?.data).toEqual({ san: "e4", comments: ["[%clk 0:01:02.5] [%foo bar]"] });
  expect(d4?.data).toEqual({ san: "d4", comments: ["a"] });
  expect(d4?.children.map(({ data }) => [data.san, data.nags])).toEqual([
    ["d5", [6]],
    ["Nf6", undefined],
  ]);
  // chessops ends a comment at every closing brace.
  expect(e4?.children[0]?.data.comments).toEqual(["b", "c", "d )"]);
  expect(clocksMs).toEqual([62_500, undefined]);
});

test("an error in a PGN file has the line and column in that file", () => {
  const source = { text: "1. e4\n e5 x", file: { game: 7, offset: 1000, line: 50 } };
  const error = errorOf(() => inOneGo(readPgn(source)));
  expect(error.violations[0]?.place).toEqual({
    game: 7,
    ply: 3,
    token: "x",
    offset: 1010,
    line: 51,
    column: 5,
  });
  expect(error.message).toContain("(game 7, ply 3, line 51, column 5)");
});

test.each([
  ["1. e4 e5 1-0\n\n1. d4 d5 0-1", "A second game begins at 'd4'"],
  ["1. e4 e5 1-0\n\n1. d4 d5 1-0", "A second game begins at 'd4'"],
  ["1. e4 e5\n\n1. d4 d5", "'d4' has the number 1 and would be move 2: if a second game begins here"],
])("a request with a second game is refused with advice: %j", (text, begins) => {
  const sent = errorOf(() => gameOf(text)).message;
  expect(sent).toContain(begins);
  expect(sent).toContain("send one game; for files with several games use `kibitz review`");
  const file = { game: 1, offset: 0, line: 1 };
  const inFile = errorOf(() => inOneGo(gameFromPgn(inOneGo(readPgn({ text, file }))))).message;
  expect(inFile).toContain(begins);
  expect(inFile).toContain('in a file of several games, each game begins with its tags, such as [Event "…"]');
  expect(inFile).not.toContain("kibitz review");
});

test.each([
  ["", 1, 1],
  ['[Event "x"]\n\n\n', 1, 12],
  ['[Event "x"]\n\n 1-0\n\n', 3, 2],
  ['[Event "x"]\n\n{nobody came} 1-0 {really}\n', 3, 15],
])(
  "the error for a PGN without moves names the line and column where moves are expected: %j",
  (text, line, column) => {
    const error = errorOf(() => gameOf(text));
    expect(error.message).toMatch(/^There are no moves/);
    expect(error.violations[0]?.place).toMatchObject({ ply: 1, line, column });
  },
);

test.each([
  ['[White "x"]\n\n1. e4 {good} e5 (1... c5) 2. Ke3 Nc6', '[White "x"]\n\n1. e4 {good} e5 (1... c5)'],
  ["1.e4 e5 2.Ke3", "1.e4 e5"],
  ["1. e4 e5 $14 Ke3", "1. e4 e5 $14"],
  ["1. e4 e5 2. {a plan} Ke3", "1. e4 e5"],
  ["1. e4 e5 2. (2. Nf3) 2. Ke3", "1. e4 e5 2. (2. Nf3)"],
  ["1. e4 e5\n2\n.\nKe3", "1. e4 e5"],
])("the error for the illegal move in %j suggests the PGN up to the previous move", (text, game) => {
  const [violation] = errorOf(() => gameOf(text)).violations;
  expect(violation?.allowed).toEqual({ examples: [game] });
  expect(sansOf(gameOf(game))).toBe("e4 e5");
});

test("an error suggests no shorter PGN if the shorter PGN would be empty or too long", () => {
  const long = `1. e4 {${"x".repeat(70_000)}} e5 2. Ke3`;
  for (const text of ["1. Ke3", long]) {
    expect(errorOf(() => gameOf(text)).violations[0]?.allowed).toBeUndefined();
  }
});

test("an error in a PGN quotes a short part of the text without API keys and control characters", () => {
  const key = `kbz_${"a".repeat(43)}`;
  for (const text of [`1. e4 ${key}`, `1. e4 \u001b[31m${"x".repeat(1000)}`, `[Variant "${key}"]\n\n1. e4`]) {
    const { message, violations } = errorOf(() => gameOf(text));
    for (const said of [message, violations[0]?.place?.token ?? key]) {
      expect(said).not.toContain(key);
      expect(said).not.toContain("\u001b");
      expect(said.length).toBeLessThan(300);
    }
  }
});

test("a PGN is refused if its variations are too deep, or if it has too many tags or characters", () => {
  const nested = (depth: number) => `1. e4 ${"(1. d4 ".repeat(depth)}${")".repeat(depth)}`;
  expect(sansOf(gameOf(nested(100)))).toBe("e4");
  expect(errorOf(() => gameOf(nested(101))).message).toContain("More than 100 variations");
  const tags = (count: number) => Array.from({ length: count }, (_, tag) => `[T${tag} "x"]\n`).join("");
  expect(gameOf(`${tags(200)}\n1. e4`).tags.size).toBe(200);
  expect(errorOf(() => gameOf(`${tags(201)}\n1. e4`)).message).toContain("more than 200 tags");
  expect(errorOf(() => gameOf(`1. e4 {${"x".repeat(1024 * 1024)}}`)).message).toContain("characters");
});

test("a PGN of 601 plies is refused, and the first 600 plies are suggested", () => {
  const plies = (count: number) => rounds.split(" ").slice(0, count).join(" ");
  expect(gameOf(plies(600)).moves).toHaveLength(600);
  const [violation] = errorOf(() => gameOf(plies(601))).violations;
  expect(violation).toMatchObject({
    pointer: "/pgn",
    code: "out_of_range",
    message: "The game has more than 600 plies (half-moves) (ply 601, line 1, column 2401).",
    place: { ply: 601, token: "Nf3", offset: 2400, line: 1, column: 2401 },
    allowed: { examples: [plies(600)] },
  });
});

test("a PGN with more than 5,000 moves in its game and its variations is refused at move 5,001", () => {
  const variations = (count: number) => `1. d4\n${"(d4!{a})\n".repeat(count)}d5 *`;
  expect(sansOf(gameOf(variations(4998)))).toBe("d4 d5");
  const [violation] = errorOf(() => gameOf(variations(5000))).violations;
  expect(violation).toMatchObject({
    pointer: "/pgn",
    code: "invalid_pgn",
    message: expect.stringContaining("The game has more than 5000 moves, variations included"),
    place: { ply: 2, token: "d4!{a})".slice(0, 3), line: 5001, column: 2 },
  });
});

test.each([
  ["a long main line", rounds, 601],
  ["many variations", `1. d4 ${"(d4)".repeat(50_000)}`, 3 * 5001],
  ["one long variation", `1. d4 (${"d4 ".repeat(50_000)}`, 5001],
])("a PGN with %s is parsed only up to the first move above the limit", (_, text, tokens) => {
  const pieces = readPgn({ text });
  let count = 0;
  const readOn = () => {
    while (!pieces.next().done) {
      count++;
    }
  };
  expect(errorOf(readOn).message).toContain("more than");
  // A time slice ends after 100 tokens.
  expect(count).toBeGreaterThan(4);
  expect(count).toBeLessThanOrEqual(tokens / 100);
});

test("a PGN may have moves after an automatic draw", () => {
  const shuffled = gameOf(`1. Nf3 Nf6 2. Ng1 Ng8 ${"Nf3 Nf6 Ng1 Ng8 ".repeat(5)}`);
  expect(shuffled.positions.map(({ terminal }) => terminal?.reason).at(16)).toBe("fivefold_repetition");
  expect(shuffled.moves).toHaveLength(24);
  expect(shuffled.result).toBe("1/2-1/2");
});

test("a list of moves gives the same game as its PGN", () => {
  const game = gameOfMoves({ fen: startFen, moves: ["e2e4", "e5", "Nf3"] });
  expect(game).toEqual({ ...gameOf("1. e4 e5 2. Nf3"), tree: game.tree });
  expect([...game.tree.moves.mainline()].map(({ san }) => san)).toEqual(["e4", "e5", "Nf3"]);
});

test("a Chess960 game with castling is read in the same way from a list of moves and from a PGN", () => {
  const fen = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w KQkq - 0 1";
  const moves = ["O-O", "O-O-O"];
  const game = gameOfMoves({ fen, moves });
  const pgn = gameOf(`[FEN "${fen}"]\n\n1. O-O O-O-O`);
  expect(game.moves.map(({ castling }) => castling)).toEqual(["kingside", "queenside"]);
  expect(game.positions).toEqual(pgn.positions);
  expect(inOneGo(playMoves({ fen, moves })).moves).toEqual(game.moves);
});

test("an illegal list of moves gets the same error in a review and in an analysis", () => {
  const refusal = (fen: string, moves: readonly string[]) =>
    errorOf(() => gameOfMoves({ fen, moves })).violations;
  expect(refusal("x", ["e4"])[0]).toMatchObject({ pointer: "/fen", code: "invalid_fen" });
  expect(refusal(startFen, ["e4", "Ke3"])).toMatchObject([
    {
      pointer: "/moves/1",
      code: "illegal_move",
      message:
        "'Ke3' is not a legal move for Black (moves[1], in the position rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1).",
    },
  ]);
});

test("Kibitz and chessops read the same game from a random PGN", () => {
  fc.assert(
    fc.property(pgnTexts, ({ text, sans }) => {
      const game = gameOf(text);
      expect(game.moves.map(({ san }) => san)).toEqual(sans);
      const [referee] = parsePgn(text, () => new Map());
      expect(referee && makePgn({ ...referee, headers: new Map() })).toBe(
        makePgn({ ...game.tree, headers: new Map() }),
      );
    }),
  );
});

test("a damaged PGN is refused or gives exactly the moves of the text", () => {
  const damage = fc.array(
    fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 3 }),
      insert: fc.oneof(
        fc.string({ maxLength: 3 }),
        fc.constantFrom(
          "\n\n",
          "(",
          ")",
          "{",
          "}",
          "♘",
          "S",
          " 1. ",
          '\n[Event "x"]\n',
          "--",
          "1-0",
          ";",
          "%",
        ),
      ),
    }),
    { minLength: 1, maxLength: 3 },
  );
  fc.assert(
    fc.property(pgnTexts, damage, ({ text }, damages) => {
      const damaged = damages.reduce((before, { at, remove, insert }) => {
        const place = at % (before.length + 1);
        return before.slice(0, place) + insert + before.slice(place + remove);
      }, text);
      const read = readOrRefuse(damaged);
      expect(read === undefined || read === mainLineIn(damaged)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

function readOrRefuse(text: string): string | undefined {
  try {
    const pgn = inOneGo(readPgn({ text }));
    const { moves } = inOneGo(gameFromPgn(pgn));
    const targets = moves.map((move, index) => {
      const written = pgn.moves[index]?.san ?? "";
      // A bishop may be written as `b` if no pawn can make the move.
      const isBishop = written.startsWith("b") && move.san.startsWith("B");
      expect(isMoveAsWritten(isBishop ? `B${written.slice(1)}` : written, move)).toBe(true);
      return targetOf(isBishop ? move.san.slice(1) : move.san);
    });
    return targets.join(" ");
  } catch (error) {
    expect(error).toMatchObject({ name: "KibitzError" });
    return undefined;
  }
}

/** Returns true if the played move and the written move have the same piece, target square and promotion. */
function isMoveAsWritten(written: string, move: MoveDescription): boolean {
  const uci = /^([a-h][1-8])-?x?([a-h][1-8])(?:=([QRBN]))?[+#]?$/.exec(written);
  if (uci) {
    const [, from, to, promotion] = uci;
    const arrives = move.castling !== undefined || to === move.to;
    return from === move.from && arrives && promotion === partsOf(move.san).promotion;
  }
  const said = partsOf(written);
  const played = partsOf(move.san);
  return said.piece === played.piece && said.target === played.target && said.promotion === played.promotion;
}

function partsOf(san: string) {
  const [, castling, piece, target, promotion] =
    /^(?:(O-O(?:-O)?)|([KQRBN])?.*?([a-h][1-8])(?:=([QRBN]))?)[+#]?$/.exec(san) ?? [];
  return { piece, target: castling ?? target, promotion };
}

/** Returns the piece and its target square, which all styles of notation contain. */
function targetOf(san: string): string {
  const castling = /[O0o]-[O0o](-[O0o])?/.exec(san.replaceAll(/[–—]/g, "-"))?.[0].replaceAll(/[0o]/g, "O");
  return castling ?? `${/^[KQRBN]/.exec(san)?.[0] ?? ""}${san.match(/[a-h][1-8]/g)?.at(-1)}`;
}

/** Parses moves with simple rules. Tags, comments and variations are skipped. */
function mainLineIn(text: string): string {
  let depth = 0;
  const plain = text
    .replaceAll(new RegExp(`^\\s*\\[[^\\s${quotes}]+ *[${quotes}][^\\n]*?[${quotes}] *\\]`, "gm"), "")
    .replaceAll(/\{[^}]*\}|(?<![{][^}]*);.*$|^%.*$/gm, " ")
    .replaceAll("♘", "N")
    // The file of a target square and the sign of a capture may be capital letters, also behind a piece: `BH6`, `eXD5`.
    .replaceAll(/[A-H](?=[1-8](?![0-9A-Za-z]))/g, (file) => file.toLowerCase())
    .replaceAll(/X(?=[a-h][1-8])/g, "x")
    .replaceAll(/\b[kqrn](?=[a-h]?[1-8]?[-x:]?[a-h][1-8])/g, (piece) => piece.toUpperCase())
    .replaceAll(/[()]|[^()]+/g, (part) => {
      depth += part === "(" ? 1 : part === ")" ? -1 : 0;
      return depth === 0 && part !== ")" ? part : " ";
    });
  const moves = plain.match(/[KQRBN]?[a-h]?[1-8]?[-x:]?[a-h][1-8]|[O0o]-[O0o](-[O0o])?/g) ?? [];
  return moves.map(targetOf).join(" ");
}

test("every opening of the table is found by its moves", () => {
  const rows = readFileSync(new URL("../../third_party/chess-openings/c.tsv", import.meta.url), "utf8");
  const pgns = rows
    .trim()
    .split("\n")
    .slice(1, 200)
    .map((row) => row.split("\t")[2] ?? "");
  expect(pgns.map((pgn) => sansOf(gameOf(pgn)))).toEqual(pgns.map((pgn) => pgn.replaceAll(/\d+\. /g, "")));
});
