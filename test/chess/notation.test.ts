import { describe, expect, test } from "vitest";
import { describeLine, describeMove, describeReply } from "../../src/chess/moves.ts";
import { positionOf, startFen } from "./judged.ts";

test("a quiet move is described completely", () => {
  expect(describeMove(positionOf(startFen), "d2d4")).toEqual({
    uci: "d2d4",
    san: "d4",
    from: "d2",
    to: "d4",
    promotion: undefined,
    capture: false,
    check: false,
    castling: undefined,
    fenAfter: "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1",
  });
});

test("a promotion with capture and mate is described completely", () => {
  const position = positionOf("1r4k1/P4ppp/8/8/8/8/8/4R1K1 w - - 0 1");
  expect(describeMove(position, "a7b8r")).toMatchObject({
    san: "axb8=R#",
    promotion: "rook",
    capture: true,
    check: true,
  });
});

test("a promotion in upper case is described like one in lower case", () => {
  expect(describeMove(positionOf("4k3/P7/8/8/8/8/8/4K3 w - - 0 1"), "a7a8Q")?.uci).toBe("a7a8q");
});

test("en passant is described as a capture", () => {
  const position = positionOf("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2");
  expect(describeMove(position, "e5d6")).toMatchObject({ san: "exd6", capture: true });
});

test("an illegal move has no description", () => {
  const position = positionOf(startFen);
  for (const uci of ["e2e5", "e7e5", "(none)", "0000", "d4", "e2e4 "]) {
    expect(describeMove(position, uci), uci).toBeUndefined();
  }
});

test("the description of a move leaves the position unchanged", () => {
  const position = positionOf(startFen);
  const first = describeMove(position, "e2e4");
  describeReply(position, "e2e4", "e7e5");
  describeLine(position, ["e2e4", "e7e5"]);
  expect(describeMove(position, "e2e4")).toEqual(first);
});

describe("castling", () => {
  const fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";

  test.each([
    ["e1g1", "e1h1", "O-O", "kingside", "/R4RK1 b"],
    ["e1c1", "e1a1", "O-O-O", "queenside", "/2KR3R b"],
  ])(
    "castling is %s in standard chess, %s in Chess960, %s in SAN",
    (standard, chess960, san, castling, after) => {
      for (const asked of [standard, chess960]) {
        const told = { san, castling, capture: false, from: "e1" };
        expect(describeMove(positionOf(fen), asked)).toMatchObject({
          ...told,
          uci: standard,
          to: standard.slice(2),
          fenAfter: expect.stringContaining(`${after} kq - 1 1`),
        });
        const position = positionOf(fen, { chess960: true });
        expect(describeMove(position, asked)).toMatchObject({
          ...told,
          uci: chess960,
          to: chess960.slice(2),
          fenAfter: expect.stringContaining(`${after} ha - 1 1`),
        });
      }
    },
  );

  // Each worked out by hand: king to the c- or g-file, rook to the d- or f-file, all squares between free and unattacked.
  test.each([
    ["where the king stays", "7k/8/8/8/8/8/8/R1K5 w A - 0 1", "c1a1", "O-O-O", "/2KR4 b"],
    ["where the rook stays", "7k/8/8/8/8/8/8/1K3R2 w F - 0 1", "b1f1", "O-O", "/5RK1 b"],
    ["where both change places", "7k/8/8/8/8/8/8/5KR1 w G - 0 1", "f1g1", "O-O", "/5RK1 b"],
    ["where the king steps away from its rook", "7k/8/8/8/8/8/8/RK6 w A - 0 1", "b1a1", "O-O-O", "/2KR4 b"],
    ["of Black", "1r1k2r1/8/8/8/8/8/8/4K3 b gb - 0 1", "d8g8", "O-O", "1r3rk1/"],
  ])("castling in Chess960 is played %s", (_, from, uci, san, after) => {
    const move = describeMove(positionOf(from), uci);
    expect(move).toMatchObject({ uci, san });
    expect(move?.fenAfter).toContain(after);
  });

  test.each([
    ["into check", "4k1r1/8/8/8/8/8/8/1K3R2 w F - 0 1", "b1f1"],
    ["through check", "3rk3/8/8/8/8/8/8/1K3R2 w F - 0 1", "b1f1"],
    ["out of check", "1r2k3/8/8/8/8/8/8/1K3R2 w F - 0 1", "b1f1"],
    ["over a piece", "4k3/8/8/8/8/8/8/1K2NR2 w F - 0 1", "b1f1"],
    ["where the rook uncovers a check", "4k3/8/8/8/8/8/8/rRK5 w B - 0 1", "c1b1"],
  ])("castling in Chess960 is not played %s", (_, from, uci) => {
    expect(describeMove(positionOf(from), uci)).toBeUndefined();
  });
});

test("a reply is described in the position after the move, and its FEN follows both", () => {
  expect(describeReply(positionOf(startFen), "d2d4", "g8f6")).toMatchObject({
    san: "Nf6",
    fenAfter: "rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2",
  });
});

test("a reply has no description if one of the two moves is not legal", () => {
  expect(describeReply(positionOf(startFen), "d2d5", "g8f6")).toBeUndefined();
  expect(describeReply(positionOf(startFen), "d2d4", "g1f3")).toBeUndefined();
});

test("a line ends before its first illegal move, with SAN of equal length", () => {
  expect(describeLine(positionOf(startFen), ["e2e4", "e7e5", "e1g1", "d7d6"])).toEqual({
    moves: ["e2e4", "e7e5"],
    san: ["e4", "e5"],
  });
});

test("a line writes castling in the position's notation", () => {
  const ucis = ["e1h1", "e8c8"];
  const fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
  const san = ["O-O", "O-O-O"];
  expect(describeLine(positionOf(fen), ["e1h1"])).toEqual({ moves: ["e1g1"], san: ["O-O"] });
  expect(describeLine(positionOf(fen, { chess960: true }), ucis)).toEqual({ moves: ["e1h1", "e8a8"], san });
});

test("a line may be empty", () => {
  expect(describeLine(positionOf(startFen), [])).toEqual({ moves: [], san: [] });
});
