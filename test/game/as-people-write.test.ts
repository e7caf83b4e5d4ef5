import { expect, test } from "vitest";
import { inOneGo } from "../../src/chess/in-one-go.ts";
import { annotate } from "../../src/game/annotate.ts";
import { errorOf, gameOf, review, sansOf } from "./games.ts";

const pawnEnding = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
/** These castling rights are possible only in Chess960. */
const middle = "1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w KQkq - 0 1";
/** These castling rights do not fit Chess960 either, because the rooks of the two sides are on different files. */
const different = "r3k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w KQkq - 0 1";
const shuffled = "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w KQkq - 0 1";
const italian = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5";
const italianSans = "e4 e5 Nf3 Nc6 Bc4 Bc5";

interface Read {
  readonly moves: string;
  readonly result?: string;
  readonly tags?: Readonly<Record<string, string | undefined>>;
  /** The warnings must contain these words, in this order. */
  readonly warnings?: readonly string[];
  readonly chess960?: boolean;
  readonly nags?: readonly number[];
}

test.each<[what: string, text: string, read: Read]>([
  [
    "the tag fen in lower case",
    `[fen "${pawnEnding}"]\n\n1. e4 *`,
    { moves: "e4", tags: { FEN: pawnEnding, fen: undefined }, warnings: ["The tag fen was read as FEN"] },
  ],
  [
    "the tags Fen, SETUP, variant and result",
    `[SETUP "1"]\n[Fen "${shuffled}"]\n[variant "chess960"]\n[RESULT "1-0"]\n\n1. f4`,
    {
      moves: "f4",
      result: "1-0",
      tags: { SetUp: "1", FEN: shuffled, Variant: "chess960", Result: "1-0" },
      warnings: ["SETUP was read as SetUp", "Fen was read as FEN", "variant", "RESULT"],
      chess960: true,
    },
  ],
  [
    "the tags FEN: and Set_Up, with signs",
    `[Set_Up "1"]\n[FEN: "${pawnEnding}"]\n\n1. e4 *`,
    {
      moves: "e4",
      tags: { SetUp: "1", FEN: pawnEnding, "FEN:": undefined },
      warnings: ["Set_Up was read as SetUp", "FEN: was read as FEN"],
    },
  ],
  [
    "a FEN tag with the FEN of a URL",
    `[FEN "https://lichess.org/editor/${pawnEnding.replaceAll(" ", "_")}"]\n\n1. e4 *`,
    {
      moves: "e4",
      tags: { FEN: pawnEnding },
      warnings: [`The tag FEN was read as ${pawnEnding} (ply 1, line 1, column 1).`],
    },
  ],
  [
    "a FEN tag with other words around the FEN",
    `[FEN "position fen ${pawnEnding}"]\n\n1. e4 *`,
    { moves: "e4", tags: { FEN: pawnEnding }, warnings: ["The tag FEN was read as"] },
  ],
  [
    "moves in capital letters",
    "1. E4 (1. D4 D5) E5 2. NG1-F3!? NC6 3. BB5 A7A6 4. BXC6 DXC6 5. O-O",
    {
      moves: "e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O",
      warnings: ["'E4' was read as e4", "D4", "D5", "E5", "NG1-F3", "NC6", "A7A6", "DXC6", "BB5", "BXC6"],
    },
  ],
  [
    "a promotion in capital letters",
    '[FEN "3rk3/P3P3/8/8/8/8/8/4K2R w K - 0 1"]\n\n1. EXD8=Q+ KXD8 2. A8Q+#1-0',
    { moves: "exd8=Q+ Kxd8 a8=Q+", result: "1-0", warnings: ["EXD8=Q+", "KXD8", "A8Q+"] },
  ],
  [
    "an uppercase capture by a b-pawn, and an en passant capture",
    "1. B4 C5 2. BXC5 D5 3. CXD6 E.P.",
    { moves: "b4 c5 bxc5 d5 cxd6", warnings: ["C5", "D5", "CXD6", "B4", "'BXC5' was read as bxc5"] },
  ],
  [
    "castling without dashes",
    "1. d4 d5 2. Nc3 Nf6 3. Bf4 g6 4. Qd2 Bg7 5. 000 00 *",
    {
      moves: "d4 d5 Nc3 Nf6 Bf4 g6 Qd2 Bg7 O-O-O O-O",
      warnings: ["'000' was read as O-O-O", "'00' was read as O-O"],
    },
  ],
  [
    "castling without dashes and without a space after the move number",
    `${italian} 4.00! oo`.replace("Bc5", "Nf6 4. d3 Bc5").replace("4.00", "5.00"),
    { moves: "e4 e5 Nf3 Nc6 Bc4 Nf6 d3 Bc5 O-O O-O", warnings: ["O-O", "O-O"] },
  ],
  ["two equal FEN tags", `[FEN "${pawnEnding}"]\n[fen "${pawnEnding}"]\n\n1. e4`, { moves: "e4" }],
  [
    "a double forfeit in the tag Result",
    `[Result "0-0"]\n\n${italian} 0-0`,
    { moves: italianSans, result: "*", tags: { Result: "0-0" }, warnings: ["double forfeit"] },
  ],
  [
    "a double forfeit in other signs with a comment after the result",
    `[result "0 - 0"]\n\n${italian} 0 – 0 {both forfeited}`,
    { moves: italianSans, result: "*", warnings: ["result was read as Result", "double forfeit"] },
  ],
  [
    "the result 0-0 after a move where castling is illegal",
    "1. e4 e5 0-0",
    { moves: "e4 e5", result: "*", warnings: ["The last '0-0' was read as the result of a double forfeit"] },
  ],
  [
    "a double forfeit with a colon, also in the tag Result",
    `[Result "0:0"]\n\n${italian} 0:0`,
    { moves: italianSans, result: "*", tags: { Result: "0:0" }, warnings: ["'0:0' was read as *"] },
  ],
  [
    "a double forfeit with a colon only in the tag Result",
    `[Result "0:0"]\n\n${italian} 0-0`,
    { moves: italianSans, result: "*", warnings: ["double forfeit"] },
  ],
  [
    "half a point for one side",
    `${italian} 1/2-0`,
    { moves: italianSans, warnings: ["'1/2-0' was read as *"] },
  ],
  ["castling with zeros at the end", `${italian} 0-0`, { moves: `${italianSans} O-O` }],
  [
    "castling with zeros and then the result 0-0",
    `[Result "0-0"]\n\n${italian} 4. 0-0 0-0`,
    { moves: `${italianSans} O-O`, result: "*", warnings: ["double forfeit"] },
  ],
  [
    "a Chess960 start of the variant From Position",
    `[Variant "From Position"]\n[FEN "${shuffled}"]\n\n1. f4 f5`,
    { moves: "f4 f5", chess960: true, warnings: ["'From Position' was read as Chess960"] },
  ],
  ...["Freestyle Chess", "Fischer random chess", "FISCHERANDOM", "Chess 960", "chess9LX", "freestyle"].map(
    (name): [string, string, Read] => [
      `the variant ${name}`,
      `[Variant "${name}"]\n[FEN "${middle}"]\n\n1. a3`,
      { moves: "a3", chess960: true },
    ],
  ),
  [
    "Chess960 castling in the variant Standard",
    `[Variant "Standard"]\n[FEN "${middle}"]\n\n1. O-O e1c1`.replace("e1c1", "O-O-O"),
    { moves: "O-O O-O-O", chess960: true, warnings: ["'Standard' was read as Chess960"] },
  ],
  [
    "unused castling rights of Chess960",
    `[FEN "${middle}"]\n\n1. a3`,
    { moves: "a3", chess960: true, warnings: ["so the position was read as Chess960"] },
  ],
  [
    "unused castling rights without a rook",
    `[Variant "Standard"]\n[FEN "${different}"]\n\n1. a3`,
    { moves: "a3", warnings: ["Castling rights KQk were removed"] },
  ],
  [
    "castling that needs rights without a rook in its corner",
    `[FEN "${different}"]\n\n1. a3 a6 2. O-O`,
    { moves: "a3 a6 O-O", chess960: true, warnings: ["so the position was read as Chess960"] },
  ],
  [
    "the glyphs of the table",
    `1. e4 → e5 ↑ 2. Nf3⇆ Nc6 D 3. Bc4□ Bc5 ∆`,
    { moves: italianSans, nags: [40, 36, 132, 220, 7, 140] },
  ],
  [
    "an unknown sign after a move",
    "1. e4 ☆ e5☆☆ 2. Nf3, *",
    {
      moves: "e4 e5 Nf3",
      warnings: ["'☆' is not a glyph, and was made a comment", "'☆☆'", "','"],
    },
  ],
  [
    "a repeated tag that does not change the game",
    '[Event "a"]\n[Event "b"]\n\n1. e4',
    {
      moves: "e4",
      tags: { Event: "a" },
      warnings: ["The tag Event is given twice; its first value is kept"],
    },
  ],
  ...(
    [
      ["0.5-0.5", "1/2-1/2"],
      ["0,5:0,5", "1/2-1/2"],
      ["½ - ½", "1/2-1/2"],
      ["1/2 - 1/2", "1/2-1/2"],
      ["1/2–1/2", "1/2-1/2"],
      ["1:0", "1-0"],
      ["1-O", "1-0"],
      ["0-1.", "0-1"],
      ["0 : 1", "0-1"],
      ["1 -\n0", "1-0"],
    ] as const
  ).flatMap(([written, result]): [string, string, Read][] => [
    [`the result ${JSON.stringify(written)}`, `${italian} ${written}`, { moves: italianSans, result }],
    [
      `the result ${JSON.stringify(written)} in its tag`,
      `[Result "${written.replace("\n", " ")}"]\n\n${italian}`,
      { moves: italianSans, result, tags: { Result: result } },
    ],
  ]),
  [
    "a result without a space after a mate sign",
    "1. f3 e5 2. g4 Qh4#0-1",
    { moves: "f3 e5 g4 Qh4#", result: "0-1" },
  ],
  ["a result without a space after a move", "1. e4 e51/2-1/2", { moves: "e4 e5", result: "1/2-1/2" }],
  ["an asterisk without a space after a move", "1. e4 e5*", { moves: "e4 e5" }],
  [
    "a result without a space after a promotion",
    `[FEN "8/4P1k1/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. e8=Q1-0`,
    { moves: "e8=Q", result: "1-0" },
  ],
  [
    "typographic quotation marks in tags",
    "[Event “a”]\n[White „b“]\n[Black «c»]\n[Site 'd']\n[Round \"e”]\n\n1. e4",
    { moves: "e4", tags: { Event: "a", White: "b", Black: "c", Site: "d", Round: "e" } },
  ],
  [
    "a tag whose last quotation mark is escaped",
    '[Event "5th \\"Name\\" Open\\"]\n[Source "C:\\games\\"]\n\n1. e4',
    { moves: "e4", tags: { Event: '5th "Name" Open', Source: "C:\\games\\" } },
  ],
  ["a ^Z at the end of the file", `${italian} *\n\u001a`, { moves: italianSans }],
  ["a ^Z after the last move", `${italian}\u001a\u001a\n`, { moves: italianSans }],
  [
    "an empty FEN and an empty variant",
    '[SetUp "1"]\n[FEN ""]\n[Variant "?"]\n\n1. e4',
    {
      moves: "e4",
      tags: { FEN: undefined, Variant: undefined },
      warnings: ["the standard start is assumed (ply 1, line 1, column 1)"],
    },
  ],
  [
    "pieces in lower case",
    "1. e4 e5 2. nf3 nc6 3. bc4 qe7 4. kf1 ng8f6 5. bb5 rg8 *",
    {
      moves: "e4 e5 Nf3 Nc6 Bc4 Qe7 Kf1 Nf6 Bb5 Rg8",
      warnings: [
        "'nf3' was read as Nf3",
        "nc6",
        "'qe7'",
        "'kf1'",
        "'ng8f6'",
        "'rg8'",
        "'bc4' was read as Bc4 (ply 5",
        "'bb5'",
      ],
    },
  ],
  [
    "a letter b that means a pawn because no bishop can make the move",
    `[FEN "4k3/8/8/8/2p5/1P6/8/4K3 w - - 0 1"]\n\n1. bc4 *`,
    { moves: "bxc4" },
  ],
  ["a capture without its piece", "1. xe4 e5", { moves: "e4 e5", warnings: ["'xe4' was read as e4"] }],
  ["both squares of each move, with dashes", "1. e2-e4 e7-e5 2. g1-f3 b8-c6", { moves: "e4 e5 Nf3 Nc6" }],
  [
    "promotions in parentheses",
    '[FEN "4k3/1P6/8/8/8/8/8/4K3 w - - 0 1"]\n\n1. b8(Q) (1. b8(N)) (b8(R)+) Kd7',
    { moves: "b8=Q+ Kd7" },
  ],
  [
    "castling in Cyrillic letters",
    `${italian} 4. О-О d6 5. d3 Bg4 6. Nc3 Qd7 7. a3 О-О-О`,
    { moves: `${italianSans} O-O d6 d3 Bg4 Nc3 Qd7 a3 O-O-O` },
  ],
  ["move numbers that begin with 0", "0. e4 e5 1. Nf3", { moves: "e4 e5 Nf3", warnings: ["begin with 0"] }],
  [
    "a SetUp tag of 1 without a FEN tag",
    '[SetUp "1"]\n[FEN "?"]\n\n1. e4',
    {
      moves: "e4",
      tags: { SetUp: undefined },
      warnings: ["the standard start is assumed (ply 1, line 1, column 1)"],
    },
  ],
  [
    "a FEN in the SetUp tag",
    `[SetUp "${pawnEnding}"]\n\n1. e4`,
    {
      moves: "e4",
      tags: { SetUp: "1", FEN: pawnEnding },
      warnings: ["was read as the tag FEN (ply 1, line 1, column 1)"],
    },
  ],
  [
    "another FEN in the SetUp tag than in the FEN tag",
    `[SetUp "4k3/8/8/8/8/8/3P4/4K3 w - - 0 1"]\n[FEN "${pawnEnding}"]\n\n1. e4`,
    {
      moves: "e4",
      tags: { SetUp: "1", FEN: pawnEnding },
      warnings: ["The tag SetUp has another FEN than the tag FEN, and was ignored (ply 1, line 1, column 1)"],
    },
  ],
  [
    "the same FEN in the SetUp tag and in the FEN tag",
    `[SetUp "${pawnEnding}"]\n[FEN "${pawnEnding}"]\n\n1. e4`,
    { moves: "e4", tags: { SetUp: "1", FEN: pawnEnding } },
  ],
  [
    "castling with zeros before another result",
    `[Result "1-0"]\n\n${italian} 0-0 1-0`,
    { moves: `${italianSans} O-O`, result: "1-0" },
  ],
])(
  "a game is read with %s",
  (_, text, { moves, result = "*", tags = {}, warnings = [], chess960 = false, nags }) => {
    const game = gameOf(text);
    expect(sansOf(game)).toBe(moves);
    expect(game.result).toBe(result);
    expect(Object.fromEntries(Object.keys(tags).map((name) => [name, game.tags.get(name)]))).toEqual(tags);
    expect(game.positions[0]?.chess960).toBe(chess960);
    expect(game.warnings.map(({ message }) => message)).toEqual(
      warnings.map((words) => expect.stringContaining(words)),
    );
    const written = [...game.tree.moves.mainline()];
    expect(written).toHaveLength(game.moves.length);
    const glyphs = written.flatMap(({ nags = [] }) => nags);
    expect(glyphs).toEqual(nags ?? glyphs);
    const again = gameOf(inOneGo(annotate(game, review(game, []))));
    // The annotated PGN has a corrected FEN, so its start position has no warnings.
    const positionsOf = ({ positions }: typeof game) => positions.map((one) => ({ ...one, warnings: [] }));
    expect(positionsOf(again)).toEqual(positionsOf(game));
    expect(again.result).toBe(result);
    expect(again.warnings.filter(({ code }) => code === "pgn_corrected")).toEqual([]);
  },
);

test.each([
  ["two FEN tags", `[FEN "${pawnEnding}"]\n[fen "${middle}"]\n\n1. e4`, "The tag FEN is given twice"],
  ["a double forfeit and no move", '[Result "0-0"]\n\n0-0', "There are no moves"],
  [
    "castling after its castling right was removed",
    '[Variant "Standard"]\n[FEN "4k3/8/8/8/8/8/8/4K1N1 w K - 0 1"]\n\n1. O-O',
    "(Castling right K was removed: the king or the rook is not in its place)",
  ],
  [
    "a letter b that can mean a pawn or a bishop",
    '[FEN "4k3/8/8/8/2p5/1P6/4B3/4K3 w - - 0 1"]\n\n1. bc4',
    "'bc4' matches more than one legal move for White: b3c4, e2c4",
  ],
  [
    "a letter B in an uppercase move that can mean a pawn or a bishop",
    '[FEN "4k3/8/8/8/2p5/1P6/4B3/4K3 w - - 0 1"]\n\n1. BXC4',
    "'BXC4' matches more than one legal move for White: b3c4, e2c4",
  ],
  ["a letter D in an uppercase move that can mean a queen", "1. D4 E5 2. DE5", "'DE5' is neither a move"],
  ["moves after the FEN in the FEN tag", `[FEN "${pawnEnding} moves e2e4"]\n\n1. e4`, "followed by moves"],
  [
    "an N before a square that a pawn and a knight can go to",
    "1. e4 N f6",
    "'f6' after 'N' is a move of a pawn behind the sign of a novelty, or Nf6",
  ],
  [
    "a FEN tag and a SetUp tag of 0",
    `[SetUp "0"]\n[FEN "${pawnEnding}"]\n\n1. e4`,
    "The tag SetUp says that the game begins at the standard start",
  ],
  ["two variants", '[Variant "Chess960"]\n[variant "Standard"]\n\n1. e4', "The tag Variant is given twice"],
  [
    "two different results in the tags",
    '[Result "1-0"]\n[Result "0-1"]\n\n1. e4',
    "The tag Result is given twice",
  ],
  ["another variant with a shuffled start", '[Variant "Atomic960"]\n\n1. e4', "Standard and Chess960"],
  ["illegal castling written with letters", "1. e4 e5 O-O", "'O-O' is not a legal move"],
  [
    "illegal castling written with zeros before the last move",
    "1. e4 e5 0-0 d5",
    "'0-0' is not a legal move",
  ],
])("the parser refuses a game with %s", (_, text, says) => {
  expect(errorOf(() => gameOf(text)).message).toContain(says);
});

test.each([
  ["1:30", 90_000],
  ["0:01:30", 90_000],
  ["\n1:00:00", 3_600_000],
  ["  0:00:01.5 ", 1500],
  ["0:00:01,5", 1500],
])("the clock comment %j is read", (written, ms) => {
  expect(gameOf(`1. e4 {[%clk ${written}]} *`).clocksMs).toEqual([ms]);
});

test("the warnings about a game report at most ten corrections", () => {
  const rounds = "nf3 nf6 ng1 ng8 ".repeat(20);
  const bishops = "be2 be7 bf1 bf8 ".repeat(20);
  for (const text of [rounds, `e4 e5 ${bishops}`]) {
    expect(gameOf(text).warnings).toHaveLength(10);
  }
});

test("a glyph in brackets or before the first move becomes a comment, with a warning", () => {
  const { tree, warnings, moves } = gameOf("D 1. e4 (=) e5 (D) *");
  expect(moves).toHaveLength(2);
  expect(tree.comments).toEqual(["D"]);
  expect([...tree.moves.mainline()].map(({ comments }) => comments)).toEqual([["="], ["D"]]);
  expect(warnings.map(({ code }) => code)).toEqual(["pgn_corrected", "pgn_corrected", "pgn_corrected"]);
});

test("a space between a piece and its square is refused and not read as a pawn move", () => {
  expect(errorOf(() => gameOf("1. e4 e5 2. N f3")).violations).toMatchObject([
    { code: "invalid_pgn", place: { ply: 3, token: "N", offset: 12 } },
  ]);
});
