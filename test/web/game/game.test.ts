import { expect, test } from "vitest";
import {
  type Game,
  type GameNode,
  gameFromFen,
  mainlineOf,
  nodeOf,
  pathTo,
  play,
  promote,
  remove,
  resultOf,
} from "../../../web/src/game/game.ts";

function gameOf(fen: string, moves: readonly string[] = []) {
  const reading = gameFromFen(fen, moves);
  if (reading.kind === "violations") {
    throw new Error(reading.violations[0]?.message);
  }
  return reading;
}

/** Returns the moves and variations as in a PGN, without move numbers. */
function written({ start }: Game): string {
  const after = ({ children: [first, ...others] }: GameNode): string =>
    first === undefined
      ? ""
      : [
          first.move?.san,
          ...others.map((other) => `(${[other.move?.san, after(other)].join(" ").trim()})`),
          after(first),
        ]
          .join(" ")
          .trim();
  return after(start);
}

const opening = gameOf("startpos", ["e4", "e5", "Nf3", "Nc6"]).game;

test("a game accepts moves in UCI and SAN", () => {
  const { game, refused } = gameOf("startpos", ["e4", "e7e5", "Nf3"]);
  expect(mainlineOf(game).map(({ move }) => move?.san)).toEqual([undefined, "e4", "e5", "Nf3"]);
  expect(refused).toBeUndefined();
});

test("castling rights that are valid only in Chess960 make the game Chess960", () => {
  const { game } = gameOf("1rk4r/8/8/8/8/8/8/1RK4R w KQkq - 0 1", ["O-O"]);
  expect(game.start.position).toMatchObject({
    chess960: true,
    fen: "1rk4r/8/8/8/8/8/8/1RK4R w HBhb - 0 1",
  });
});

test("a standard position stays standard, and a removed castling right causes a warning", () => {
  const { game } = gameOf("4k3/8/8/8/8/8/8/4K3 w KQ - 0 1");
  expect(game.start.position.chess960).toBe(false);
  expect(game.warnings.map(({ code }) => code)).toEqual(["castling_rights_removed"]);
});

test("a game contains the moves before the first illegal move, and reports the illegal move", () => {
  const { game, refused } = gameOf("startpos", ["e4", "Ke4", "e5"]);
  expect(written(game)).toBe("e4");
  expect(refused).toMatchObject({ index: 1, message: expect.stringContaining("'Ke4'") });
});

test("a FEN with missing fields is refused with a complete FEN as a suggestion", () => {
  expect(gameFromFen("4k3/8/8/8/8/8/8/4K2R w")).toMatchObject({
    kind: "violations",
    suggestedFen: "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
  });
});

test("a move from an earlier position begins a variation and keeps the main line", () => {
  const { game, at } = play(opening, nodeOf(opening, "e2e4 e7e5"), ["Nc3", "Nf6"]);
  expect(written(game)).toBe("e4 e5 Nf3 (Nc3 Nf6) Nc6");
  expect(at.move?.san).toBe("Nf6");
  expect(at.id).toBe("e2e4 e7e5 b1c3 g8f6");
});

test("playing an existing move does not change the game", () => {
  const played = play(opening, opening.start, ["e4", "e5"]);
  expect(played.game).toBe(opening);
  expect(played.at).toBe(nodeOf(opening, "e2e4 e7e5"));
});

test("promoting a variation moves the variation up one level at each call", () => {
  const first = play(opening, nodeOf(opening, "e2e4"), ["c5", "Nf3"]).game;
  const { game, at } = play(first, nodeOf(first, "e2e4 c7c5"), ["Nc3"]);
  expect(written(game)).toBe("e4 e5 (c5 Nf3 (Nc3)) Nf3 Nc6");
  const once = promote(game, at);
  expect(written(once)).toBe("e4 e5 (c5 Nc3 (Nf3)) Nf3 Nc6");
  const twice = promote(once, at);
  expect(written(twice)).toBe("e4 c5 (e5 Nf3 Nc6) Nc3 (Nf3)");
  expect(promote(twice, at)).toBe(twice);
});

test("removing a move also removes all later moves, and the start cannot be removed", () => {
  const { game } = play(opening, nodeOf(opening, "e2e4"), ["c5"]);
  expect(written(remove(game, nodeOf(game, "e2e4 e7e5")))).toBe("e4 c5");
  expect(remove(game, game.start)).toBe(game);
});

test("the path to an unknown node ends at the last known ancestor", () => {
  expect(pathTo(opening, "e2e4 e7e5 g1h3 g8h6").map(({ ply }) => ply)).toEqual([0, 1, 2]);
});

test("a variation counts repetitions of positions from before the variation", () => {
  const shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"];
  const { game } = gameOf("startpos", [...shuffle, "Nf3"]);
  const { at } = play(game, nodeOf(game, "g1f3 g8f6 f3g1 f6g8"), ["Nc3", "Nc6", "Nb1", "Nb8"]);
  expect(at.position.drawClaim).toBe("threefold_repetition");
});

test("a game without a result in its PGN has the result of its last position", () => {
  expect(resultOf(opening)).toBe("*");
  expect(resultOf(gameOf("startpos", ["f3", "e5", "g4", "Qh4"]).game)).toBe("0-1");
});
