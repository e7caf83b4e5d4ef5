import { Chess } from "chessops/chess";
import { expect, test, vi } from "vitest";
import { inOneGo } from "../../src/chess/in-one-go.ts";
import { describeMove } from "../../src/chess/moves.ts";
import { playGame } from "../../src/chess/play-game.ts";
import { positionOf, startFen } from "./validated.ts";

const play = (fen: string, moves: readonly string[]) => {
  const positions = [positionOf(fen)];
  const game = inOneGo(playGame(positionOf(fen), moves, (position) => positions.push(position)));
  return { ...game, positions };
};

const round = ["Nf3", "Nf6", "Ng1", "Ng8"];

test.each([
  ["no moves", []],
  ["moves", ["e4", "Nf6", "Nf3"]],
  ["a fivefold repetition", [...round, ...round, ...round, ...round]],
  ["an illegal move", ["e4", "e4", "Nf3"]],
])("a game with %s ends in the same position with and without a list of all positions", (_, moves) => {
  const { positions, ...game } = play(startFen, moves);
  expect(inOneGo(playGame(positionOf(startFen), moves))).toEqual(game);
  expect(game.last).toEqual(positions.at(-1));
});

test("if only the last position is needed, a game of any length is played on a single board object", () => {
  const clone = vi.spyOn(Chess.prototype, "clone");
  const boardsFor = (moves: readonly string[]) => {
    clone.mockClear();
    inOneGo(playGame(positionOf(startFen), moves));
    return clone.mock.calls.length;
  };
  expect(boardsFor(Array(150).fill(round).flat())).toBe(boardsFor(["e4"]));
  clone.mockRestore();
});

test("a game has one position more than moves, and each position equals the position after its moves", () => {
  const { positions, moves, refused } = play(startFen, ["e4", "Nf6", "Nf3", "Ng8"]);
  expect(refused).toBeUndefined();
  expect(moves.map(({ san }) => san)).toEqual(["e4", "Nf6", "Nf3", "Ng8"]);
  expect(positions.map(({ fen }) => fen)).toEqual([startFen, ...moves.map(({ fenAfter }) => fenAfter)]);
  for (const position of positions) {
    const validated = positionOf(position.root, { moves: position.moves });
    expect({ ...position, board: undefined }).toEqual({ ...validated, board: undefined });
    expect(describeMove(position, "a2a3")).toEqual(describeMove(validated, "a2a3"));
  }
});

test("the history of a position contains only positions that can still be repeated", () => {
  const { positions } = play(startFen, ["e4", "Nf6", "Nf3", "Nxe4", "Nd4"]);
  expect(positions.map(({ moves }) => moves)).toEqual([[], [], ["g8f6"], ["g8f6", "g1f3"], [], ["f3d4"]]);
  expect(positions.at(-1)?.root).toBe(positions.at(-2)?.fen);
});

test("each position of a game has its number of repetitions", () => {
  const { positions } = play(startFen, [...round, ...round, ...round, ...round]);
  expect(positions[8]?.drawClaim).toBe("threefold_repetition");
  expect(positions[16]).toMatchObject({ terminal: { reason: "fivefold_repetition" }, moves: [] });
  expect(positions[16]?.root).toBe(positions[16]?.fen);
});

test("a game ends before the first illegal move, and the error names the move", () => {
  const { positions, refused } = play("4k3/8/8/8/8/8/8/R4R1K w - - 0 1", ["Kg2", "Kd8", "Rd1+", "x"]);
  expect(positions).toHaveLength(3);
  expect(refused).toBe("matches more than one legal move for White: a1d1, f1d1");
});

test("a long game is played in several time slices", () => {
  const texts = Array.from({ length: 25 }, () => round).flat();
  expect([...playGame(positionOf(startFen), texts)]).toHaveLength(4);
});
