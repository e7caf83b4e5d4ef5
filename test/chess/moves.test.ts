import { describe, expect, test } from "vitest";
import { faultsOf, positionOf, startFen } from "./judged.ts";

const bothCastle = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";

describe("moves", () => {
  test.each([
    ["UCI", ["e2e4", "e7e5", "g1f3"]],
    ["SAN", ["e4", "e5", "Nf3"]],
    ["both", ["e2e4", "e5", "Ngf3"]],
  ])("moves are read in %s", (_, moves) => {
    const fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
    expect(positionOf(startFen, { moves })).toMatchObject({
      fen,
      root: "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
      moves: ["g1f3"],
    });
  });

  test.each(["e1g1", "e1h1", "O-O", "0-0"])(
    "castling is read from %s, in standard chess and in Chess960",
    (move) => {
      expect(positionOf(bothCastle, { moves: [move] }).moves).toEqual(["e1g1"]);
      expect(positionOf(bothCastle, { moves: [move], chess960: true }).moves).toEqual(["e1h1"]);
    },
  );

  test.each(["e1c1", "e1a1", "O-O-O", "0-0-0"])("castling to the queenside is read from %s", (move) => {
    const { fen, moves } = positionOf(bothCastle, { moves: [move] });
    expect(moves).toEqual(["e1c1"]);
    expect(fen).toContain("2KR3R b kq ");
  });

  test.each(["a7a8q", "a7a8Q", "a8=Q", "a8Q", "a8=Q+"])("a promotion is read from %s", (move) => {
    const { fen } = positionOf("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", { moves: [move] });
    expect(fen).toBe("Q3k3/8/8/8/8/8/8/4K3 b - - 0 1");
  });

  test.each(["Qxf7#", "Qxf7", "Qxf7+", "h5f7"])("a mate is read from %s, with any sign", (move) => {
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
  ])("moves are refused at %j", (move, fen) => {
    expect(faultsOf(fen, { moves: [move] })).toMatchObject([
      { code: "illegal_move", field: "moves", index: 0 },
    ]);
  });

  test("moves are refused at the first illegal one, with its text, its side and its place", () => {
    const [fault, ...others] = faultsOf(startFen, { moves: ["e4", "e5", "Ke2", "Nf6xx", "e9"] });
    expect(others).toEqual([]);
    expect(fault?.index).toBe(3);
    expect(fault?.message).toContain("'Nf6xx'");
    expect(fault?.message).toContain("Black");
    expect(fault?.message).toContain("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPPKPPP/RNBQ1BNR b kq - 1 2");
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
  ])("an ambiguous move is told from an illegal one: %s, in %s", (move, fen, message) => {
    expect(faultsOf(fen, { moves: [move] })[0]?.message).toContain(message);
  });

  const howWritten = ": each move is written by itself, in SAN (Nf3) or UCI (g1f3), without number";
  test.each(["1. e4", "1.e4", "e4 e5", "e2e4 ", "e4!", "e4?!", "\u2658f3", "E2E4"])(
    "a move in the notation of another language or program is refused with its name: %j",
    (move) => {
      const [fault] = faultsOf(startFen, { moves: [move] });
      expect(fault?.message).toContain(` is not a legal move for White${howWritten}`);
    },
  );

  test.each(["e5", "Qh9", "e2e5", "O-O", "0000", "xyz"])(
    "a text that is no move in any notation is refused as such: %j",
    (move) => {
      expect(faultsOf(startFen, { moves: [move] })[0]?.message).toContain(
        `'${move}' is not a legal move for White (moves[0]`,
      );
    },
  );

  test("an illegal move is repeated to at most 64 characters, without control characters", () => {
    const [fault] = faultsOf(startFen, { moves: [`\n\u2028${"x".repeat(100_000)}`] });
    expect(fault?.message).toContain(`'??${"x".repeat(62)}'`);
  });

  test("moves are not validated if the FEN is invalid", () => {
    expect(faultsOf("8/8/8/8/8/8/8/8 w - - 0 1", { moves: ["e9"] }).map((fault) => fault.field)).toEqual([
      "fen",
      "fen",
    ]);
  });
});

describe("Chess960 moves", () => {
  const fen = "2k5/8/8/8/8/8/8/1R3K1R w HB - 0 1";

  test("a Chess960 position reads f1g1 as a king move, and king takes rook as castling", () => {
    expect(positionOf(fen, { moves: ["f1g1"] }).fen).toContain("/1R4KR b");
    expect(positionOf(fen, { moves: ["f1h1"] }).fen).toContain("/1R3RK1 b");
    expect(positionOf(fen, { moves: ["f1b1"] }).fen).toContain("/2KR3R b");
  });

  test("a Chess960 position reads a king's way of two files or more to its square as castling", () => {
    expect(positionOf(fen, { moves: ["f1c1"] }).moves).toEqual(["f1b1"]);
  });

  test("a Chess960 position reads no other king move of two files as castling", () => {
    expect(faultsOf(fen, { moves: ["f1d1"] })).toMatchObject([{ code: "illegal_move" }]);
  });

  test("a Chess960 position does not read Kh1 as castling if the king's own rook stands there", () => {
    const beside = "2k5/8/8/8/8/8/8/6KR w H - 0 1";
    expect(positionOf(beside, { moves: ["O-O"] }).fen).toContain("/5RK1 b");
    expect(faultsOf(beside, { moves: ["Kh1"] })).toMatchObject([{ code: "illegal_move" }]);
    expect(faultsOf(beside, { moves: ["Kxh1"] })).toMatchObject([{ code: "illegal_move" }]);
  });
});

describe("a history", () => {
  const shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
  const times = (count: number) => Array.from({ length: count }, () => shuffle).flat();

  test("a third repetition in the history can be claimed as a draw", () => {
    expect(positionOf(startFen, { moves: times(1) }).drawClaim).toBeUndefined();
    expect(positionOf(startFen, { moves: times(2) })).toMatchObject({
      drawClaim: "threefold_repetition",
      terminal: undefined,
    });
  });

  test("a fifth repetition in the history ends the game", () => {
    expect(positionOf(startFen, { moves: times(3) }).terminal).toBeUndefined();
    expect(positionOf(startFen, { moves: times(4) })).toMatchObject({
      drawClaim: undefined,
      terminal: { reason: "fivefold_repetition", winner: undefined, result: "1/2-1/2" },
    });
  });

  test("a repetition counts for the position at the end of the history, not for one on the way", () => {
    expect(positionOf(startFen, { moves: [...times(2), "e4"] }).drawClaim).toBeUndefined();
  });

  test("positions with other castling rights are no repetition", () => {
    const moves = ["Rg1", "Rg8", "Rh1", "Rh8", "Rg1", "Rg8", "Rh1", "Rh8"];
    expect(positionOf(bothCastle, { moves }).drawClaim).toBeUndefined();
    expect(positionOf(bothCastle, { moves: [...moves, "Rg1", "Rg8", "Rh1", "Rh8"] }).drawClaim).toBe(
      "threefold_repetition",
    );
  });

  test("positions with and without a legal en passant capture are no repetition", () => {
    const walk = ["Ke2", "Ke7", "Ke1", "Ke8"];
    const open = "4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1";
    const alone = "4k3/3p4/8/8/8/8/4P3/4K3 b - - 0 1";
    expect(positionOf(open, { moves: ["d5", ...walk, ...walk] }).drawClaim).toBeUndefined();
    expect(
      positionOf(alone, { moves: ["d5", "Kf2", "Ke7", "Ke1", "Ke8", "Kf2", "Ke7", "Ke1", "Ke8"] }).drawClaim,
    ).toBe("threefold_repetition");
  });

  test("the 50-move claim comes before the repetition", () => {
    const fen = "r3k3/8/8/8/8/8/8/4K2R w - - 92 80";
    const moves = ["Rh2", "Ra7", "Rh1", "Ra8", "Rh2", "Ra7", "Rh1", "Ra8"];
    expect(positionOf(fen, { moves }).drawClaim).toBe("fifty_moves");
    expect(positionOf(fen.replace("92", "91"), { moves }).drawClaim).toBe("threefold_repetition");
  });

  test("a game ends with the 75th move of each side without capture or pawn move, before the fifth repetition", () => {
    const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 134 90";
    expect(positionOf(fen, { moves: times(3) })).toMatchObject({ terminal: undefined, halfmoves: 146 });
    expect(positionOf(fen, { moves: times(4) }).terminal?.reason).toBe("seventyfive_moves");
  });
});
