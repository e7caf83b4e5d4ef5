import { describe, expect, test } from "vitest";
import { describeMove, describeReply, describeVariation } from "../../src/chess/moves.ts";
import { positionOf, startFen, violationsOf } from "./validated.ts";

const bothCastle = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";

describe("moves", () => {
  test.each([
    ["UCI", ["e2e4", "e7e5", "g1f3"]],
    ["SAN", ["e4", "e5", "Nf3"]],
    ["both", ["e2e4", "e5", "Ngf3"]],
  ])("moves are read in the notation %s", (_, moves) => {
    const fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
    expect(positionOf(startFen, { moves })).toMatchObject({
      fen,
      root: "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
      moves: ["g1f3"],
    });
  });

  test.each(["e1g1", "e1h1", "O-O", "0-0"])(
    "the move %s is read as castling in standard chess and in Chess960",
    (move) => {
      expect(positionOf(bothCastle, { moves: [move] }).moves).toEqual(["e1g1"]);
      expect(positionOf(bothCastle, { moves: [move], chess960: true }).moves).toEqual(["e1h1"]);
    },
  );

  test.each(["e1c1", "e1a1", "O-O-O", "0-0-0"])(
    "the move %s is read as castling to the queenside",
    (move) => {
      const { fen, moves } = positionOf(bothCastle, { moves: [move] });
      expect(moves).toEqual(["e1c1"]);
      expect(fen).toContain("2KR3R b kq ");
    },
  );

  test.each(["a7a8q", "a7a8Q", "a8=Q", "a8Q", "a8=Q+"])("the move %s is read as a promotion", (move) => {
    const { fen } = positionOf("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", { moves: [move] });
    expect(fen).toBe("Q3k3/8/8/8/8/8/8/4K3 b - - 0 1");
  });

  test.each(["Qxf7#", "Qxf7", "Qxf7+", "h5f7"])("the move %s is read as the move that gives mate", (move) => {
    const fen = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4";
    expect(positionOf(fen, { moves: [move] }).terminal).toMatchObject({
      reason: "checkmate",
      winner: "white",
    });
  });

  test.each([
    ["e2e5", startFen],
    ["e7e5", startFen],
    ["O-O", startFen],
    ["e1e1", startFen],
    ["0000", startFen],
    ["N@f3", startFen],
    ["hello", startFen],
    ["", startFen],
    ["e2e4\nquit", startFen],
    ["E2E4", startFen],
    ["e2e4q", startFen],
    ["e1e2q", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"],
    ["a7a8", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"],
    ["a7a8k", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"],
    ["a8", "4k3/P7/8/8/8/8/8/4K3 w - - 0 1"],
    ["Rd1", "4k3/8/8/8/8/8/8/R4R1K w - - 0 1"],
    ["e1g1", "4k3/8/8/8/8/8/8/4K2R w - - 0 1"],
    ["e1h1", "4k3/8/8/8/8/8/8/4K2R w - - 0 1"],
    ["e1g1", "4kr2/8/8/8/8/8/8/4K2R w K - 0 1"],
  ])("the illegal move %j is refused", (move, fen) => {
    expect(violationsOf(fen, { moves: [move] })).toMatchObject([
      { code: "illegal_move", field: "moves", index: 0 },
    ]);
  });

  test("the violation of the first illegal move names the move and the side to move, and contains the FEN", () => {
    const [violation, ...others] = violationsOf(startFen, { moves: ["e4", "e5", "Ke2", "Nf6xx", "e9"] });
    expect(others).toEqual([]);
    expect(violation?.index).toBe(3);
    expect(violation?.message).toContain("'Nf6xx'");
    expect(violation?.message).toContain("Black");
    expect(violation?.message).toContain("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPPKPPP/RNBQ1BNR b kq - 1 2");
  });

  test.each([
    [
      "Rd1",
      "4k3/8/8/8/8/8/8/R4R1K w - - 0 1",
      "'Rd1' matches more than one legal move for White: a1d1, f1d1 (",
    ],
    [
      "Rxd1+",
      "4k3/8/8/8/8/8/8/R2n1R1K w - - 0 1",
      "'Rxd1+' matches more than one legal move for White: a1d1, f1d1 (",
    ],
    ["R1d3", "4k3/8/8/8/8/8/8/R4R1K w - - 0 1", "'R1d3' is not a legal move for White ("],
  ])(
    "the error message distinguishes an ambiguous move from an illegal move: %s, in %s",
    (move, fen, message) => {
      expect(violationsOf(fen, { moves: [move] })[0]?.message).toContain(message);
    },
  );

  const howWritten = ": each move is written by itself, in SAN (Nf3) or UCI (g1f3), without number";
  test.each(["e4 e5", "1.e5", "1...e4", "e5!", "\u2658f4", "\u0421f3"])(
    "the error message about an unreadable move explains the notation: %j",
    (move) => {
      const [violation] = violationsOf(startFen, { moves: [move] });
      expect(violation?.message).toContain(` is not a legal move for White${howWritten}`);
    },
  );

  test.each(["e5", "Qh9", "e2e5", "O-O", "0000", "xyz"])(
    "the error message about an illegal move does not explain the notation: %j",
    (move) => {
      expect(violationsOf(startFen, { moves: [move] })[0]?.message).toContain(
        `'${move}' is not a legal move for White (moves[0]`,
      );
    },
  );

  test("the error message about a move repeats at most 64 characters, without control characters", () => {
    const [violation] = violationsOf(startFen, { moves: [`\n\u2028${"x".repeat(100_000)}`] });
    expect(violation?.message).toContain(`'??${"x".repeat(62)}'`);
  });

  test("moves are not validated after an invalid FEN", () => {
    expect(
      violationsOf("8/8/8/8/8/8/8/8 w - - 0 1", { moves: ["e9"] }).map((violation) => violation.field),
    ).toEqual(["fen", "fen"]);
  });
});

describe("Chess960 moves", () => {
  const fen = "2k5/8/8/8/8/8/8/1R3K1R w HB - 0 1";

  test("in a Chess960 position with a rook on h1, f1g1 is read as a king move, and f1h1 as castling", () => {
    expect(positionOf(fen, { moves: ["f1g1"] }).fen).toContain("/1R4KR b");
    expect(positionOf(fen, { moves: ["f1h1"] }).fen).toContain("/1R3RK1 b");
    expect(positionOf(fen, { moves: ["f1b1"] }).fen).toContain("/2KR3R b");
  });

  test("in a Chess960 position, a king move of two or more files to the castling square is read as castling", () => {
    expect(positionOf(fen, { moves: ["f1c1"] }).moves).toEqual(["f1b1"]);
  });

  test("in a Chess960 position, a king move of two files to another square is not read as castling", () => {
    expect(violationsOf(fen, { moves: ["f1d1"] })).toMatchObject([{ code: "illegal_move" }]);
  });

  test("in a Chess960 position, Kh1 is not read as castling, even if a castling rook is on h1", () => {
    const beside = "2k5/8/8/8/8/8/8/6KR w H - 0 1";
    expect(positionOf(beside, { moves: ["O-O"] }).fen).toContain("/5RK1 b");
    expect(violationsOf(beside, { moves: ["Kh1"] })).toMatchObject([{ code: "illegal_move" }]);
    expect(violationsOf(beside, { moves: ["Kxh1"] })).toMatchObject([{ code: "illegal_move" }]);
  });
});

test("the description of a move without capture, check and promotion has every field", () => {
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

test("the description of a capture with promotion and mate is complete", () => {
  const position = positionOf("1r4k1/P4ppp/8/8/8/8/8/4R1K1 w - - 0 1");
  expect(describeMove(position, "a7b8r")).toMatchObject({
    san: "axb8=R#",
    promotion: "rook",
    capture: true,
    check: true,
  });
});

test("the description of a promotion is the same with upper and lower case letters", () => {
  expect(describeMove(positionOf("4k3/P7/8/8/8/8/8/4K3 w - - 0 1"), "a7a8Q")?.uci).toBe("a7a8q");
});

test("the description of en passant says that the move is a capture", () => {
  const position = positionOf("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2");
  expect(describeMove(position, "e5d6")).toMatchObject({ san: "exd6", capture: true });
});

test("the description of an illegal move is undefined", () => {
  const position = positionOf(startFen);
  for (const uci of ["e2e5", "e7e5", "(none)", "0000", "d4", "e2e4 "]) {
    expect(describeMove(position, uci), uci).toBeUndefined();
  }
});

test("the description of a move does not change the position", () => {
  const position = positionOf(startFen);
  const first = describeMove(position, "e2e4");
  describeReply(position, "e2e4", "e7e5");
  describeVariation(position, ["e2e4", "e7e5"], 0);
  expect(describeMove(position, "e2e4")).toEqual(first);
});

describe("castling", () => {
  const fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";

  test.each([
    ["e1g1", "e1h1", "O-O", "kingside", "/R4RK1 b"],
    ["e1c1", "e1a1", "O-O-O", "queenside", "/2KR3R b"],
  ])(
    "castling is written %s in standard chess, %s in Chess960 and %s in SAN",
    (standard, chess960, san, castling, after) => {
      for (const asked of [standard, chess960]) {
        const described = { san, castling, capture: false, from: "e1" };
        expect(describeMove(positionOf(fen), asked)).toMatchObject({
          ...described,
          uci: standard,
          to: standard.slice(2),
          fenAfter: expect.stringContaining(`${after} kq - 1 1`),
        });
        const position = positionOf(fen, { chess960: true });
        expect(describeMove(position, asked)).toMatchObject({
          ...described,
          uci: chess960,
          to: chess960.slice(2),
          fenAfter: expect.stringContaining(`${after} ha - 1 1`),
        });
      }
    },
  );

  // The expected positions were derived from the rules by hand. After castling, the king is on the c-file or g-file, and the
  // rook is on the d-file or f-file.
  test.each([
    ["if the king stays", "7k/8/8/8/8/8/8/R1K5 w A - 0 1", "c1a1", "O-O-O", "/2KR4 b"],
    ["if the rook stays", "7k/8/8/8/8/8/8/1K3R2 w F - 0 1", "b1f1", "O-O", "/5RK1 b"],
    ["if king and rook change places", "7k/8/8/8/8/8/8/5KR1 w G - 0 1", "f1g1", "O-O", "/5RK1 b"],
    ["if the king moves away from its rook", "7k/8/8/8/8/8/8/RK6 w A - 0 1", "b1a1", "O-O-O", "/2KR4 b"],
    ["by Black", "1r1k2r1/8/8/8/8/8/8/4K3 b gb - 0 1", "d8g8", "O-O", "1r3rk1/"],
  ])("castling in Chess960 is legal %s", (_, from, uci, san, after) => {
    const move = describeMove(positionOf(from), uci);
    expect(move).toMatchObject({ uci, san });
    expect(move?.fenAfter).toContain(after);
  });

  test.each([
    ["into check", "4k1r1/8/8/8/8/8/8/1K3R2 w F - 0 1", "b1f1"],
    ["through check", "3rk3/8/8/8/8/8/8/1K3R2 w F - 0 1", "b1f1"],
    ["out of check", "1r2k3/8/8/8/8/8/8/1K3R2 w F - 0 1", "b1f1"],
    ["over a piece", "4k3/8/8/8/8/8/8/1K2NR2 w F - 0 1", "b1f1"],
    ["if the rook leaves a line of check open", "4k3/8/8/8/8/8/8/rRK5 w B - 0 1", "c1b1"],
  ])("castling in Chess960 is illegal %s", (_, from, uci) => {
    expect(describeMove(positionOf(from), uci)).toBeUndefined();
  });
});

test("the description of the opponent's reply has the FEN after the move and the reply", () => {
  expect(describeReply(positionOf(startFen), "d2d4", "g8f6")).toMatchObject({
    san: "Nf6",
    fenAfter: "rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2",
  });
});

test("the description of the reply to a move is undefined if one of the two moves is illegal", () => {
  expect(describeReply(positionOf(startFen), "d2d5", "g8f6")).toBeUndefined();
  expect(describeReply(positionOf(startFen), "d2d4", "g1f3")).toBeUndefined();
});

test("a line and its SAN list both end before the first illegal move", () => {
  expect(describeVariation(positionOf(startFen), ["e2e4", "e7e5", "e1g1", "d7d6"], 0)).toMatchObject({
    moves: ["e2e4", "e7e5"],
    san: ["e4", "e5"],
  });
});

test("a line writes castling in the notation of its position, standard or Chess960", () => {
  const ucis = ["e1h1", "e8c8"];
  const fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
  const san = ["O-O", "O-O-O"];
  expect(describeVariation(positionOf(fen), ["e1h1"], 0)).toMatchObject({ moves: ["e1g1"], san: ["O-O"] });
  expect(describeVariation(positionOf(fen, { chess960: true }), ucis, 0)).toMatchObject({
    moves: ["e1h1", "e8a8"],
    san,
  });
});

test("a line can be empty", () => {
  expect(describeVariation(positionOf(startFen), [], 0)).toMatchObject({ moves: [], san: [] });
});
