import { expect, test } from "vitest";
import { positionOf, startFen } from "./validated.ts";

const bothCastle = "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1";

const shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
const times = (count: number) => Array.from({ length: count }, () => shuffle).flat();

test("a draw can be claimed after the third repetition in the history", () => {
  expect(positionOf(startFen, { moves: times(1) }).drawClaim).toBeUndefined();
  expect(positionOf(startFen, { moves: times(2) })).toMatchObject({
    drawClaim: "threefold_repetition",
    terminal: undefined,
  });
});

test("a game ends after the fifth repetition in the history", () => {
  expect(positionOf(startFen, { moves: times(3) }).terminal).toBeUndefined();
  expect(positionOf(startFen, { moves: times(4) })).toMatchObject({
    drawClaim: undefined,
    terminal: { reason: "fivefold_repetition", winner: undefined, result: "1/2-1/2" },
  });
});

test("only repetitions of the last position in the history are counted", () => {
  expect(positionOf(startFen, { moves: [...times(2), "e4"] }).drawClaim).toBeUndefined();
});

test("two positions with different castling rights are not a repetition", () => {
  const moves = ["Rg1", "Rg8", "Rh1", "Rh8", "Rg1", "Rg8", "Rh1", "Rh8"];
  expect(positionOf(bothCastle, { moves }).drawClaim).toBeUndefined();
  expect(positionOf(bothCastle, { moves: [...moves, "Rg1", "Rg8", "Rh1", "Rh8"] }).drawClaim).toBe(
    "threefold_repetition",
  );
});

test("two positions are not a repetition if en passant is legal in only one of them", () => {
  const walk = ["Ke2", "Ke7", "Ke1", "Ke8"];
  const open = "4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1";
  const alone = "4k3/3p4/8/8/8/8/4P3/4K3 b - - 0 1";
  expect(positionOf(open, { moves: ["d5", ...walk, ...walk] }).drawClaim).toBeUndefined();
  expect(
    positionOf(alone, { moves: ["d5", "Kf2", "Ke7", "Ke1", "Ke8", "Kf2", "Ke7", "Ke1", "Ke8"] }).drawClaim,
  ).toBe("threefold_repetition");
});

test("a claim by the 50-move rule has priority over a claim by repetition", () => {
  const fen = "r3k3/8/8/8/8/8/8/4K2R w - - 92 80";
  const moves = ["Rh2", "Ra7", "Rh1", "Ra8", "Rh2", "Ra7", "Rh1", "Ra8"];
  expect(positionOf(fen, { moves }).drawClaim).toBe("fifty_moves");
  expect(positionOf(fen.replace("92", "91"), { moves }).drawClaim).toBe("threefold_repetition");
});

test("the 75-move rule has priority over the fifth repetition", () => {
  const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 134 90";
  expect(positionOf(fen, { moves: times(3) })).toMatchObject({
    terminal: undefined,
    board: { halfmoves: 146 },
  });
  expect(positionOf(fen, { moves: times(4) }).terminal?.reason).toBe("seventyfive_moves");
});
