import { describe, expect, test } from "vitest";
import { describeMove } from "../../src/chess/moves.ts";
import { noticesOf, positionOf, startFen, violationsOf } from "./validated.ts";

test.each([
  ["without a white king", "4k3/8/8/8/8/8/8/8 w - - 0 1", "White has no king"],
  ["with two black kings", "4k2k/8/8/8/8/8/8/4K3 w - - 0 1", "Black has 2 kings"],
  ["whose kings touch", "8/8/8/3kK3/8/8/8/8 w - - 0 1", "next to each other"],
  ["whose king can be captured", "4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", "Black is in check"],
  ["with a white pawn on rank 8", "4k2P/8/8/8/8/8/8/4K3 w - - 0 1", "pawn on h8"],
  ["with a black pawn on rank 1", "4k3/8/8/8/8/8/8/p3K3 b - - 0 1", "pawn on a1"],
  ["with nine pawns", "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1", "9 pawns"],
  [
    "with a second queen beside eight pawns",
    startFen.replace("RNB", "RQB"),
    "more promoted pieces (1) than missing pawns (0)",
  ],
  ["with a third rook beside eight pawns", startFen.replace("RNB", "RRB"), "more promoted pieces (1)"],
  ["with a third bishop beside eight pawns", startFen.replace("RNB", "RBB"), "more promoted pieces (1)"],
  ["with a third knight beside eight pawns", startFen.replace("RNB", "NNB"), "more promoted pieces (1)"],
  ["with 33 pieces", startFen.replace("/8/8/8/8/", "/8/8/8/N7/"), "33 pieces"],
])("a position %s is refused", (_, fen, reason) => {
  const violations = violationsOf(fen);
  expect(violations.map((violation) => violation.code)).toEqual(violations.map(() => "illegal_position"));
  expect(violations.map((violation) => violation.message).join("\n")).toContain(reason);
});

test("a position is refused with all of its violations", () => {
  expect(violationsOf("8/8/8/8/8/8/8/8 w - - 0 1").map((violation) => violation.message)).toEqual([
    "White has no king.",
    "Black has no king.",
  ]);
  expect(violationsOf("3P4/8/8/4k3/8/8/4R3/4K3 w - - 0 1")).toHaveLength(2);
});

test.each([
  ["two checks along one rank", "4k3/8/8/8/8/8/8/r3K2r w - - 0 1"],
  ["three checks", "4k3/8/8/1b5b/8/3p4/r3K3/8 w - - 0 1"],
  [
    "two bishops on one colour beside eight pawns",
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQK1BR w KQkq - 0 1",
  ],
  ["a clock older than the game", startFen.replace("0 1", "5 1")],
])("an unreachable position is accepted with %s", (_, fen) => {
  expect(positionOf(fen).legalMoveCount).toBeGreaterThan(0);
});

const rooks = "r3k2r/8/8/8/8/8/8/R3K2R";

test.each([
  ["a missing rook", "4k3/8/8/8/8/8/8/4K2R w KQkq - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"],
  ["a king that has moved", "4k3/8/8/8/8/8/8/R4K1R w KQ - 0 1", "4k3/8/8/8/8/8/8/R4K1R w - - 0 1"],
  ["a king off its rank", "4k3/8/8/8/8/8/4K3/R7 w Q - 0 1", "4k3/8/8/8/8/8/4K3/R7 w - - 0 1"],
  ["a king on the other side's rank", "K6R/8/8/8/8/8/8/4k3 w K - 0 1", "K6R/8/8/8/8/8/8/4k3 w - - 0 1"],
  ["a rook of the other colour", "4k3/8/8/8/8/8/8/4K1nr w K - 0 1", "4k3/8/8/8/8/8/8/4K1nr w - - 0 1"],
  ["a rook beside its corner", "4k3/8/8/8/8/8/8/1R2K3 w Q - 0 1", "4k3/8/8/8/8/8/8/1R2K3 w - - 0 1"],
  ["a Chess960 king in the corner", "kr6/8/8/8/8/8/8/4K3 b b - 0 1", "kr6/8/8/8/8/8/8/4K3 b - - 0 1"],
  ["a file without a rook", `${rooks.replace("R3", "1R2")} w HA - 0 1`, "r3k2r/8/8/8/8/8/8/1R2K2R w H - 0 1"],
])("castling rights are removed with a warning because of %s", (_, fen, corrected) => {
  expect(positionOf(fen).fen).toBe(corrected);
  expect(noticesOf(fen)).toEqual(["castling_rights_removed"]);
});

test.each([
  ["a letter twice", `${rooks} w KKQ - 0 1`],
  ["a letter twice, though there is no rook", "4k3/8/8/8/8/8/8/4K3 w KK - 0 1"],
  ["one right in two spellings", `${rooks} w KH - 0 1`],
  ["two rooks on one side", "4k3/8/8/8/8/8/8/4K1RR w GH - 0 1"],
  ["a letter that is no right", `${rooks} w KQX - 0 1`],
  ["a hyphen among letters", `${rooks} w KQ- - 0 1`],
])("castling rights are refused because of %s", (_, fen) => {
  expect(violationsOf(fen)).toMatchObject([
    { code: "invalid_fen", message: expect.stringContaining("castling") },
  ]);
});

test("a FEN with file letters as castling rights is a Chess960 position, even for the standard start position", () => {
  expect(positionOf(`${rooks} w HAha - 0 1`)).toMatchObject({
    chess960: true,
    fen: `${rooks} w HAha - 0 1`,
  });
  expect(positionOf(`${rooks} w KQkq - 0 1`).chess960).toBe(false);
});

test("castling rights are written with file letters if the option uci_chess960 is set, even if the king is on e1", () => {
  const fen = startFen.replace("KQkq", "HAha");
  expect(positionOf(startFen, { chess960: true })).toMatchObject({ chess960: true, fen });
});

test("castling rights of Chess960 are written so that the FEN has the same meaning without the option uci_chess960", () => {
  const written = positionOf("1r2k2r/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1", { chess960: true }).fen;
  expect(written).toContain(" w GBhb - ");
  expect(positionOf(written)).toMatchObject({ chess960: true, fen: written, warnings: [] });
});

test("castling rights K and Q of Chess960 mean the outermost rook, and an inner rook has a file letter", () => {
  const outer = { fen: "k7/8/8/8/8/8/8/3KR2R w K - 0 1", chess960: true };
  expect(positionOf(outer.fen, outer).fen).toContain(" w H - ");
  expect(describeMove(positionOf(outer.fen, outer), "d1e1")).toBeUndefined();
  expect(positionOf(outer.fen, { ...outer, moves: ["Re5", "Kb8", "O-O"] }).moves[2]).toBe("d1h1");
  const inner = positionOf(outer.fen.replace("K -", "E -"));
  expect(inner.fen).toContain(" E ");
  expect(describeMove(inner, "d1e1")?.castling).toBe("kingside");
});

test("castling rights of Chess960 with the letters K and Q are removed if the option uci_chess960 is false", () => {
  expect(noticesOf("2k5/8/8/8/8/8/8/1K2R1R1 w K - 0 1")).toEqual(["castling_rights_removed"]);
});

const capture = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2";

test("an en passant square is kept if an en passant capture is legal", () => {
  expect(positionOf(capture)).toMatchObject({ fen: capture, warnings: [] });
});

test.each([
  ["no pawn stands beside it", "4k3/8/8/3p4/8/8/8/4K3 w - d6 0 2"],
  ["no pawn stands in front of it", "4k3/8/8/4P3/8/8/8/4K3 w - d6 0 2"],
  ["the pawn in front belongs to the side to move", "4k3/8/8/3PP3/8/8/8/4K3 w - d6 0 2"],
  ["the pawn could not have come from behind", "4k3/3n4/8/3pP3/8/8/8/4K3 w - d6 0 2"],
  ["the square itself is occupied", "4k3/8/3n4/3pP3/8/8/8/4K3 w - d6 0 2"],
  ["the capture would expose the king on the rank", "4k3/8/8/K2pP2r/8/8/8/8 w - d6 0 2"],
  ["the capturing pawn is pinned", "4k3/8/4r3/3pP3/8/8/8/4K3 w - d6 0 2"],
])("an en passant square is removed with a warning if %s", (_, fen) => {
  expect(positionOf(fen).fen).toBe(fen.replace("d6", "-"));
  expect(noticesOf(fen)).toEqual(["ep_square_removed"]);
});

test.each([
  ["e3", "w"],
  ["e6", "b"],
  ["e4", "b"],
  ["z9", "w"],
  ["e", "w"],
  ["E3", "b"],
  ["e3e3", "b"],
])("the en passant square %s is refused with the side %s to move", (square, turn) => {
  expect(violationsOf(`4k3/8/8/8/8/8/8/4K3 ${turn} - ${square} 0 1`)).toMatchObject([
    { code: "invalid_fen", message: expect.stringContaining("en passant") },
  ]);
});

test("after a double step the FEN has an en passant square only if a capture is legal", () => {
  expect(positionOf(startFen, { moves: ["e4"] }).fen).toContain(" b KQkq - 0 1");
  expect(positionOf(startFen, { moves: ["e4", "a6", "e5", "d5"] }).fen).toContain(" w KQkq d6 0 3");
});

test.each([
  ["checkmate before the 75-move rule", "R5k1/5ppp/8/8/8/8/8/6K1 b - - 150 100", "checkmate", "white", "1-0"],
  ["checkmate by Black", "8/8/8/8/8/6k1/6q1/6K1 w - - 0 1", "checkmate", "black", "0-1"],
  [
    "stalemate before the 75-move rule",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 150 100",
    "stalemate",
    undefined,
    "1/2-1/2",
  ],
  ["stalemate before dead material", "k7/8/1K6/8/5B2/8/8/8 b - - 0 1", "stalemate", undefined, "1/2-1/2"],
  ["bare kings", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "insufficient_material", undefined, "1/2-1/2"],
  [
    "bare kings before the 75-move rule",
    "4k3/8/8/8/8/8/8/4K3 w - - 150 99",
    "insufficient_material",
    undefined,
    "1/2-1/2",
  ],
  [
    "bishops on one colour",
    "2b1k3/8/8/8/8/8/8/4KB2 w - - 0 1",
    "insufficient_material",
    undefined,
    "1/2-1/2",
  ],
  ["the 75-move rule", "4k3/8/8/8/8/8/8/R3K3 w - - 150 100", "seventyfive_moves", undefined, "1/2-1/2"],
])("a game ends by %s", (_, fen, reason, winner, result) => {
  const { terminal, drawClaim } = positionOf(fen);
  expect(terminal).toEqual({ reason, winner, result });
  expect(drawClaim).toBeUndefined();
});

test.each([
  ["bishops on both colours", "4kb2/8/8/8/8/8/8/4KB2 w - - 0 1"],
  ["two knights", "4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1"],
  ["a knight against a knight", "4kn2/8/8/8/8/8/8/4KN2 w - - 0 1"],
  ["a bishop against a knight", "4kn2/8/8/8/8/8/8/4KB2 w - - 0 1"],
  ["blocked pawns", "4k3/8/8/p7/P7/8/8/4K3 w - - 0 1"],
  ["a clock of 149", "4k3/8/8/8/8/8/8/R3K3 w - - 149 100"],
])("a game does not end with %s", (_, fen) => {
  expect(positionOf(fen).terminal).toBeUndefined();
});

const at = (clock: number) => `4k3/8/8/8/8/8/8/R3K3 w - - ${clock} 100`;

test("a half-move clock of at least 4 causes a warning about missing history, and at least 100 about the 50-move rule", () => {
  expect(noticesOf(at(3))).toEqual([]);
  expect(noticesOf(at(4))).toEqual(["no_history"]);
  expect(noticesOf(at(99))).toEqual(["no_history"]);
  expect(noticesOf(at(100))).toEqual(["no_history", "fifty_move_horizon"]);
});

test("the half-move clock causes no warning about missing history if the request contains moves", () => {
  expect(noticesOf(at(98), { moves: ["a1a2"] })).toEqual([]);
  expect(noticesOf(at(99), { moves: ["a1a2"] })).toEqual(["fifty_move_horizon"]);
});

test("the half-move clock causes no warning after the end of the game", () => {
  expect(noticesOf(at(150))).toEqual([]);
  expect(noticesOf("4k3/8/8/8/8/8/8/4K3 w - - 120 100")).toEqual([]);
});

test("a draw can be claimed at a half-move clock of 100, and a clock above 150 stays unchanged", () => {
  expect(positionOf(at(99)).drawClaim).toBeUndefined();
  expect(positionOf(at(100)).drawClaim).toBe("fifty_moves");
  expect(positionOf(at(163))).toMatchObject({ fen: at(163), board: { halfmoves: 163 } });
});

const asWritten = { chess960: undefined };

test.each([
  ["both sides of a Chess960 start", "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1", "GDgd"],
  ["both kings on the e-file", "1r2k1r1/8/8/8/8/8/8/1R2K1R1 w KQkq - 0 1", "GBgb"],
  ["one side with its king off the e-file", "2k5/8/8/8/8/8/8/1K2R1R1 w K - 0 1", "G"],
  ["different sides of the same files", "1rk3r1/8/8/8/8/8/8/1RK3R1 w Kq - 0 1", "Gb"],
])("castling rights are read as Chess960 without the option uci_chess960: %s", (_, fen, rights) => {
  const position = positionOf(fen, asWritten);
  expect(position).toMatchObject({ chess960: true, fen: fen.replace(/ [KQkq]+ /, ` ${rights} `) });
  expect(position.warnings).toMatchObject([{ code: "chess960_assumed", field: "fen" }]);
  expect(positionOf(fen, { chess960: true }).fen).toBe(position.fen);
  expect(noticesOf(fen, { chess960: false })).toEqual(["castling_rights_removed"]);
});

test.each([
  ["a right without a rook", "bqnrnk1b/8/8/8/8/8/8/BQNRNKRB w KQkq - 0 1"],
  ["a king off its rank", "8/1k6/8/8/8/8/8/1K2R1R1 w Kk - 0 1"],
  ["rooks on different files", "1rk3r1/8/8/8/8/8/8/R1K3R1 w KQkq - 0 1"],
  ["kings on different files", "1rk3r1/8/8/8/8/8/8/1R1K2R1 w KQkq - 0 1"],
  ["one side alone with its king on the e-file", "4k3/8/8/8/8/8/8/1R2K2R w KQ - 0 1"],
])("castling rights are removed without the option uci_chess960 because of %s", (_, fen) => {
  expect(noticesOf(fen, asWritten)).toEqual(["castling_rights_removed"]);
});

test("castling rights that fit standard chess are standard rights", () => {
  const fen = `${rooks} w KQkq - 0 1`;
  expect(positionOf(fen, asWritten)).toMatchObject({ chess960: false, fen, warnings: [] });
});

describe("a position whose castling rights fit neither standard chess nor X-FEN", () => {
  const fen = "r3k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w KQkq - 0 1";

  test.each([
    ["SAN", ["a3", "a6", "O-O"]],
    ["UCI", ["a2a3", "a7a6", "e1g1"]],
  ])("is Chess960 if a castling move in %s needs the rights", (_, moves) => {
    const position = positionOf(fen, { ...asWritten, moves });
    expect(position.chess960).toBe(true);
    expect(position.warnings).toMatchObject([{ code: "chess960_assumed" }]);
    expect(violationsOf(fen, { chess960: false, moves })).toMatchObject([{ code: "illegal_move", index: 2 }]);
  });

  test("is standard chess if no move needs the rights, or if the castling move is illegal in Chess960 too", () => {
    expect(noticesOf(fen, { ...asWritten, moves: ["a3"] })).toEqual(["castling_rights_removed"]);
    expect(violationsOf(fen, { ...asWritten, moves: ["Kf1", "a6", "O-O"] })).toMatchObject([
      { code: "illegal_move", index: 2 },
    ]);
    expect(noticesOf(fen, { ...asWritten, moves: ["Kf1", "a6"] })).toEqual(["castling_rights_removed"]);
  });

  test.each(["O-O", "0-0", "e1g1"])(
    "is refused with the removed rights named for the castling move %s",
    (move) => {
      expect(violationsOf(fen, { ...asWritten, moves: ["Kf1", "a6", move] })[0]?.message).toContain(
        "(Castling rights KQk were removed: the king or the rook is not in its place)",
      );
      expect(violationsOf(fen, { ...asWritten, moves: ["a9"] })[0]?.message).not.toContain("removed");
    },
  );

  test("is refused at the first move that is illegal in Chess960", () => {
    expect(violationsOf(fen, { ...asWritten, moves: ["O-O", "a6", "a9"] })).toMatchObject([
      { code: "illegal_move", index: 2 },
    ]);
  });
});
